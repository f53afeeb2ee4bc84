import { activityActors, type ActivityActor } from '../contract/activity-actors.ts'
import type { ActivityEntry } from '../contract/activity.ts'
import { activitySentence } from '../contract/activity-sentences.ts'
import { limits } from '../contract/limits.ts'
import type { ApiClient } from './client.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError } from './command.ts'
import { readTimeFlag } from './read-time.ts'
import { sanitizeLine } from './terminal.ts'

const defaultLimit = 50

export const activity: CliCommand = {
  summary: 'Shows what changed, and who changed it.',
  usage: ['activity [SLUG] [--actor KIND] [--action NAME] [--since 1d] [--until T] [--limit N] [--follow]'],
  options: {
    project: '=SLUG only this project, like SLUG',
    actor: `=KIND ${activityActors.join(', ')}`,
    action: '=NAME an action such as deployment.failed, or its start, such as deployment.',
    since: '=T only newer ones: 30s, 15m, 2h, 1d or a time such as 2026-05-01T12:00:00Z',
    until: '=T only older ones',
    limit: `=N number of entries (default ${defaultLimit})`,
    follow: 'keep following until Ctrl-C',
  },
  details: `The newest entry is the last line. With --json each line is one entry. Entries are kept for ${limits.activity.days} days.`,
  async run(context) {
    const [slug] = requirePositionals(context, '[SLUG]')
    const { filters, wanted } = readOptions(context, slug)
    const client = context.connect()
    if (context.flags.follow === true) await follow(context, client, filters, wanted)
    else {
      const entries = await list(client, filters, wanted)
      for (const entry of entries) print(context, entry)
      if (entries.length === 0 && !context.is_json) context.terminal.out('No activity.')
    }
    return exitCodes.success
  },
}

function readOptions({ flags, clock }: CommandContext, slug: string | undefined) {
  const count = stringFlag(flags, 'limit') ?? String(defaultLimit)
  if (!/^[1-9]\d{0,5}$/.test(count)) throw new UsageError('--limit must be a whole number from 1.')
  const filters = {
    project: slug ?? stringFlag(flags, 'project'),
    actor: readActor(stringFlag(flags, 'actor')),
    action: stringFlag(flags, 'action'),
    since: readTimeFlag('since', stringFlag(flags, 'since'), clock.now()),
    until: readTimeFlag('until', stringFlag(flags, 'until'), clock.now()),
  }
  return { filters, wanted: Number(count) }
}
type Filters = ReturnType<typeof readOptions>['filters']

/** The newest entries, the newest last. */
async function list(client: ApiClient, filters: Filters, wanted: number): Promise<ActivityEntry[]> {
  const found: ActivityEntry[] = []
  let cursor: string | undefined
  do {
    const limit = String(Math.min(limits.page.max, wanted - found.length))
    const page = await client.call('listActivity', { query: { ...filters, limit, cursor } })
    found.push(...page.entries)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && found.length < wanted)
  return found.reverse()
}

/** Prints each entry once. The list is read again after each interruption, and the stream says when to read it. */
async function follow(context: CommandContext, client: ApiClient, filters: Filters, wanted: number): Promise<void> {
  const printed = new Set<string>()
  let printing = Promise.resolve()
  const printNew = () => {
    printing = printing.then(async () => {
      for (const entry of await list(client, filters, wanted)) {
        if (printed.has(entry.id)) continue
        printed.add(entry.id)
        print(context, entry)
      }
    })
    // Awaited below.
    printing.catch(() => undefined)
  }
  for await (const { event } of client.stream('followInstance', {}, context.signal, printNew)) if (event === 'activity') printNew()
  await printing
}

function readActor(name: string | undefined): ActivityActor | undefined {
  const actor = activityActors.find((one) => one === name)
  if (name !== undefined && actor === undefined) throw new UsageError(`--actor must be one of ${activityActors.join(', ')}.`)
  return actor
}

function print({ terminal, is_json }: CommandContext, entry: ActivityEntry): void {
  if (is_json) return terminal.out(JSON.stringify(entry))
  const { failure } = entry.details
  const text = `${activitySentence(entry)}${failure === null ? '' : ` (${failure})`}`
  terminal.out(sanitizeLine(terminal, `${entry.time}  ${entry.project?.slug ?? '-'}  ${text}`))
}
