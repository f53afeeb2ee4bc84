import type { JsonChange } from '../contract/json-diff.ts'
import { compareResponses, type ReplayComparison } from '../contract/replay-summary.ts'
import type { ReplayTarget, RequestCaptureSettings } from '../contract/request-captures.ts'
import { type CommandContext, exitCodes, stringFlag, UsageError } from './command.ts'
import { colorize, sanitizeLine, type Terminal } from './terminal.ts'

/** `requests capture SLUG [on|off]`: without a third word, what is set. */
export async function captureCommand(context: CommandContext, slug: string, state: string | undefined): Promise<number> {
  const { flags, terminal, clock, is_json } = context
  const client = context.connect()
  const params = { slug }
  const read = async (): Promise<RequestCaptureSettings> => {
    if (state === undefined) return (await client.call('getRequestCapture', { params })).capture
    if (state === 'off') return (await client.call('stopRequestCapture', { params })).capture
    if (state !== 'on') throw new UsageError('Use on or off.')
    const mask = stringFlag(flags, 'mask')
    const body = {
      until: new Date(clock.now() + readDuration(stringFlag(flags, 'for') ?? '1h')).toISOString(),
      path: stringFlag(flags, 'path') ?? null,
      method: stringFlag(flags, 'method') ?? null,
      status: stringFlag(flags, 'status') ?? null,
      ...(mask !== undefined && {
        masked_fields: mask
          .split(',')
          .map((name) => name.trim())
          .filter(Boolean),
      }),
    }
    return (await client.call('startRequestCapture', { params, body })).capture
  }
  const capture = await read()
  if (is_json) terminal.out(JSON.stringify(capture))
  else terminal.out(describeCapture(capture))
  return exitCodes.success
}

function describeCapture({ until, path, method, status, masked_fields }: RequestCaptureSettings): string {
  if (until === null) return 'Capture is off.'
  const filters = [method?.toUpperCase(), path, status].filter((filter) => filter !== null && filter !== undefined).join(' ')
  const masked = masked_fields.length === 0 ? '' : ` Also masked: ${masked_fields.join(', ')}.`
  return `Capturing headers and bodies of ${filters === '' ? 'all requests' : `requests that match ${filters}`} until ${until}.${masked}`
}

const unit_ms: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 }

function readDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([smh])$/.exec(text) ?? []
  if (count === undefined) throw new UsageError('--for must be a duration such as 30m or 2h.')
  return Number(count) * (unit_ms[unit] ?? 0)
}

/** `requests replay ID`: sends it again and prints what differs. Exits with 1 if anything does. */
export async function replayCommand(context: CommandContext, id: string): Promise<number> {
  const { flags, terminal, is_json } = context
  const client = context.connect()
  const [path, body] = [stringFlag(flags, 'path'), stringFlag(flags, 'body')]
  const method = stringFlag(flags, 'method')?.toUpperCase()
  if (method !== undefined && !isReplayMethod(method)) throw new UsageError('--method must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.')
  const target = readTarget(stringFlag(flags, 'to') ?? 'production')
  const { project: slug } = await client.call('getRequest', { params: { id } })
  const response = await client.call('replayRequest', {
    params: { slug, id },
    body: { target, ...(method !== undefined && { method }), ...(path !== undefined && { path }), ...(body !== undefined && { body }) },
  })
  const { original, replayed } = response
  const comparison = compareResponses(original, replayed)
  if (is_json) terminal.out(JSON.stringify({ ...response, comparison }))
  else {
    terminal.out(`${'original'.padEnd(10)}${original.status}  ${formatMs(original.duration_ms)}  ${original.deployment_id ?? '-'}`)
    terminal.out(`${'replay'.padEnd(10)}${replayed.status}  ${formatMs(replayed.duration_ms)}  ${replayed.deployment_id ?? '-'}  ${replayed.host}`)
    for (const line of describeComparison(terminal, comparison)) terminal.out(line)
  }
  return comparison.is_same ? exitCodes.success : exitCodes.failure
}

const replayMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const isReplayMethod = (text: string): text is (typeof replayMethods)[number] => replayMethods.some((method) => method === text)

const formatMs = (ms: number): string => `${Math.round(ms * 10) / 10} ms`

function readTarget(text: string): ReplayTarget {
  if (text === 'production') return { kind: 'production' }
  const [, kind = text.startsWith('dpl_') ? 'deployment' : 'preview', name = text] = /^(preview|deployment):(.+)$/.exec(text) ?? []
  // Git allows no colon in the name of a branch.
  if (name === '' || name.includes(':')) throw new UsageError('--to must be production, a branch with a preview, or the ID of a deployment.')
  return kind === 'deployment' ? { kind, id: name } : { kind: 'preview', branch: name }
}

function describeComparison(terminal: Terminal, { is_same, headers, body }: ReplayComparison): string[] {
  if (is_same) return ['Both responses are the same.']
  const changedHeaders = headers.map(({ name, before, after }) => describeChange(terminal, name, before, after))
  return [
    ...(changedHeaders.length > 0 ? ['headers', ...changedHeaders] : []),
    ...(body.kind === 'different' ? ['The bodies differ.'] : []),
    ...(body.kind === 'json' ? ['body', ...body.changes.map((change) => describeJsonChange(terminal, change))] : []),
    ...(body.kind === 'json' && !body.is_complete ? ['and more'] : []),
  ]
}

const describeJsonChange = (terminal: Terminal, { path, before, after }: JsonChange): string =>
  describeChange(terminal, path || '(all)', before, after)

function describeChange(terminal: Terminal, name: string, before: string | null, after: string | null): string {
  const line = (sign: string, text: string) => sanitizeLine(terminal, `  ${sign} ${name}: ${text}`)
  if (before === null) return colorize(terminal, 'green', line('+', after ?? ''))
  if (after === null) return colorize(terminal, 'red', line('-', before))
  return line('~', `${before} -> ${after}`)
}
