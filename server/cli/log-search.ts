import type { FoundLogLine } from '../contract/log-search.ts'
import { limits } from '../contract/limits.ts'
import { type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError } from './command.ts'
import { readTimeFlag } from './read-time.ts'
import { colorize, sanitizeLine } from './terminal.ts'

const defaultLimit = 100

export const searchOptions = {
  search: '=TEXT find lines with all these words, or with "text in quotes", in the logs of SLUG or of all projects',
  level: '=LEVEL with --search: only errors (error), or warnings and errors (warn)',
  since: '=T with --search: only newer ones: 30s, 15m, 2h, 1d or a time such as 2026-05-01T12:00:00Z',
  until: '=T with --search: only older ones',
  limit: `=N with --search: number of lines (default ${defaultLimit})`,
}

/** Prints the newest lines that match, the newest last. */
export async function searchAllLogs(context: CommandContext): Promise<number> {
  const { flags, clock, terminal } = context
  const [slug] = requirePositionals(context, '[SLUG]')
  const level = stringFlag(flags, 'level')
  if (level !== undefined && level !== 'error' && level !== 'warn') throw new UsageError('--level must be error or warn.')
  const count = stringFlag(flags, 'limit') ?? String(defaultLimit)
  if (!/^[1-9]\d{0,4}$/.test(count)) throw new UsageError('--limit must be a whole number from 1.')
  const wanted = Number(count)
  const filters = {
    query: stringFlag(flags, 'search'),
    project: slug,
    level,
    since: readTimeFlag('since', stringFlag(flags, 'since'), clock.now()),
    until: readTimeFlag('until', stringFlag(flags, 'until'), clock.now()),
  } as const
  const client = context.connect()
  const found: FoundLogLine[] = []
  let cursor: string | undefined
  do {
    const limit = String(Math.min(limits.page.max, wanted - found.length))
    const page = await client.call('searchLogs', { query: { ...filters, limit, cursor } })
    found.push(...page.lines)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && found.length < wanted && !context.signal.aborted)
  for (const line of found.reverse()) print(context, line)
  if (found.length === 0 && !context.is_json) terminal.err('No line matches.')
  return exitCodes.success
}

function print({ terminal, is_json }: CommandContext, found: FoundLogLine): void {
  if (is_json) return terminal.out(JSON.stringify(found))
  const { time, project, log, branch, service, deployment_id, level, line } = found
  const source = [project.slug, branch, service, log === 'build' ? `build ${deployment_id ?? ''}` : null].filter((part) => part !== null).join(' · ')
  const text = `${time}  ${source}  ${sanitizeLine(terminal, line)}`
  terminal.out(level === 'error' ? colorize(terminal, 'red', text) : level === 'warn' ? colorize(terminal, 'yellow', text) : text)
}
