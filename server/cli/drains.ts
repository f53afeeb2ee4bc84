import { logDrainEnvironmentLabels, logDrainKindLabels, logDrainSourceLabels, logDrainStatusLabels } from '../contract/labels.ts'
import { logDrainEnvironments, logDrainKinds, logDrainSources } from '../contract/log-drain-kinds.ts'
import type { LogDrain } from '../contract/log-drains.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, unknownSubcommand, UsageError } from './command.ts'
import { formatTable } from './terminal.ts'

const changes = ['test', 'on', 'off', 'remove'] as const

export const drains: CliCommand = {
  summary: 'Lists, adds, tests and removes log drains, which send the logs of a project elsewhere.',
  usage: [
    'drains SLUG',
    'drains SLUG add http [URL]',
    'drains SLUG add syslog tls://HOST:PORT',
    'drains SLUG add file NAME',
    'drains SLUG test ID',
    'drains SLUG on ID',
    'drains SLUG off ID',
    'drains SLUG remove ID',
  ],
  options: {
    sources: `=NAMES ${logDrainSources.join(', ')}, separated by commas (default app,build)`,
    environments: `=NAME ${logDrainEnvironments.join(', ')} (default all)`,
    header: '=NAME a header of HTTP requests, such as Authorization; its value is asked for',
    array: 'send one JSON array in each HTTP request, not a line of JSON for each log line',
    name: '=NAME what the drain is called',
  },
  details:
    'Other users of this machine can read arguments: leave out a URL with a credential in it, and enter it at the prompt. The signing secret of an HTTP drain is printed once.',
  async run(context) {
    const [slug = '', action] = context.positionals
    if (action === undefined) return list(context, requirePositionals(context, 'SLUG')[0] ?? '')
    if (action === 'add') return add(context, slug)
    if (!changes.some((one) => one === action)) throw unknownSubcommand(action, ['add', ...changes])
    const id = requirePositionals(context, 'SLUG', action, 'ID')[2] ?? ''
    if (action === 'test') return sendTest(context, slug, id)
    return action === 'remove' ? remove(context, slug, id) : turn(context, slug, id, action === 'on')
  },
}

async function list(context: CommandContext, slug: string): Promise<number> {
  const { terminal } = context
  const response = await context.connect().call('listLogDrains', { params: { slug } })
  if (context.is_json) terminal.out(JSON.stringify(response))
  else if (response.log_drains.length === 0) terminal.out(`No log drains. Add one with homeport drains ${slug} add.`)
  else
    for (const line of formatTable(
      terminal,
      ['ID', 'TYPE', 'ADDRESS', 'LOGS', 'STATUS', 'DELIVERED', 'DROPPED', ''],
      response.log_drains.map(toCells),
    ))
      terminal.out(line)
  return exitCodes.success
}

const toCells = ({ id, kind, address, sources, environments, state }: LogDrain): string[] => [
  id,
  logDrainKindLabels[kind],
  address,
  `${sources.map((source) => logDrainSourceLabels[source]).join(', ')}${environments === 'all' ? '' : ` (${logDrainEnvironmentLabels[environments]})`}`,
  logDrainStatusLabels[state.status],
  String(state.delivered),
  String(state.dropped),
  state.status === 'failing' ? (state.last_error?.message ?? '') : '',
]

async function add(context: CommandContext, slug: string): Promise<number> {
  const { flags, terminal } = context
  const kind = logDrainKinds.find((one) => one === context.positionals[2])
  if (!kind) throw new UsageError(`Add the type: homeport drains ${slug} add ${logDrainKinds.join('|')}`)
  const given = requirePositionals(context, 'SLUG', 'add', 'TYPE', '[ADDRESS]')[3]
  const address = given ?? (kind === 'http' ? await context.prompt('URL: ', { is_secret: true }) : undefined)
  if (!address) throw new UsageError(`Add the address: homeport drains ${slug} add ${kind} ${kind === 'file' ? 'NAME' : 'ADDRESS'}`)
  const header = stringFlag(flags, 'header')
  const value = header === undefined ? undefined : await context.prompt(`Value of the header ${header}: `, { is_secret: true })
  if (header !== undefined && !value) throw new UsageError(`The header ${header} has no value.`)
  const name = stringFlag(flags, 'name')
  const response = await context.connect().call('createLogDrain', {
    params: { slug },
    body: {
      kind,
      address: address.trim(),
      ...(name === undefined ? {} : { name }),
      ...(flags.array === true ? { format: 'json' as const } : {}),
      ...(header === undefined || !value ? {} : { headers: [{ name: header, value: value.trim() }] }),
      ...readFilters(context),
    },
  })
  if (context.is_json) terminal.out(JSON.stringify(response))
  else {
    terminal.out(`Added ${response.log_drain.name} (${response.log_drain.id}). It starts with the next line.`)
    if (response.signing_secret !== null) terminal.out(`Signing secret, shown only now: ${response.signing_secret}`)
  }
  return exitCodes.success
}

function readFilters({ flags }: CommandContext): Partial<Pick<LogDrain, 'sources' | 'environments'>> {
  const names = stringFlag(flags, 'sources')
    ?.split(',')
    .map((name) => name.trim())
  const unknown = names?.find((name) => !logDrainSources.some((one) => one === name))
  if (unknown !== undefined) throw new UsageError(`Unknown source “${unknown}”. Use ${logDrainSources.join(', ')}.`)
  const environmentText = stringFlag(flags, 'environments')
  const environments = logDrainEnvironments.find((one) => one === environmentText)
  if (environmentText !== undefined && !environments) throw new UsageError(`Use one of ${logDrainEnvironments.join(', ')} for --environments.`)
  return {
    ...(names === undefined ? {} : { sources: logDrainSources.filter((one) => names.includes(one)) }),
    ...(environments === undefined ? {} : { environments }),
  }
}

async function sendTest(context: CommandContext, slug: string, id: string): Promise<number> {
  const result = await context.connect().call('testLogDrain', { params: { slug, id } })
  if (context.is_json) context.terminal.out(JSON.stringify(result))
  else if (result.error === null) context.terminal.out(`Delivered a test line in ${result.duration_ms} ms.`)
  else context.terminal.err(result.error)
  return result.error === null ? exitCodes.success : exitCodes.failure
}

async function turn(context: CommandContext, slug: string, id: string, is_enabled: boolean): Promise<number> {
  const response = await context.connect().call('updateLogDrain', { params: { slug, id }, body: { is_enabled } })
  context.terminal.out(context.is_json ? JSON.stringify(response) : is_enabled ? 'Turned on. It starts with the next line.' : 'Turned off.')
  return exitCodes.success
}

async function remove(context: CommandContext, slug: string, id: string): Promise<number> {
  await context.connect().call('deleteLogDrain', { params: { slug, id } })
  context.terminal.out(context.is_json ? JSON.stringify({ ok: true }) : 'Removed.')
  return exitCodes.success
}
