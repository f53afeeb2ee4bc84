import type { BuildLogLine, RuntimeLogLine, RuntimeStateEvent } from '../contract/deployments.ts'
import { limits } from '../contract/limits.ts'
import type { Timer } from '../lib/clock.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { followBuild } from './follow-build.ts'
import { searchAllLogs, searchOptions } from './log-search.ts'
import { colorize, sanitizeLine } from './terminal.ts'

/** The stream does not mark the end of the backlog. Silence of this length counts as its end. */
const backlogSilence_ms = 500
/** Time allowed for the first event after the stream opened, on a busy machine. */
const firstEventTimeout_ms = 3_000

export const logs: CliCommand = {
  summary: 'Prints the runtime log of an app, or a build log, or searches all logs.',
  usage: [
    'logs SLUG [--service NAME] [--follow] [--lines N]',
    'logs SLUG [--service NAME] --all',
    'logs SLUG --build ID [--all]',
    'logs [SLUG] --search TEXT [--level error] [--since 1d] [--until T] [--limit N]',
  ],
  options: {
    follow: 'keep following until Ctrl-C',
    lines: '=N number of recent lines, 20 to 2000 (default 200)',
    all: 'print the whole log; with --json one JSON object per line',
    branch: '=NAME show the preview of this branch',
    service: '=NAME show a worker, an image or another service',
    replica: '=N with --service: show one of its replicas',
    build: '=ID show the build log of this deployment',
    ...searchOptions,
  },
  async run(context) {
    if (context.flags.search !== undefined) return searchAllLogs(context)
    const [slug = ''] = requirePositionals(context, 'SLUG')
    const build = stringFlag(context.flags, 'build')
    if (context.flags.all === true) return printWholeLog(context, slug, build)
    return build === undefined ? printRuntimeLog(context, slug) : printBuildLog(context, slug, build)
  },
}

async function printRuntimeLog(context: CommandContext, slug: string): Promise<number> {
  const lines = stringFlag(context.flags, 'lines') ?? String(limits.runtime_log_lines.default)
  const { min, max } = limits.runtime_log_lines
  if (!/^\d+$/.test(lines) || Number(lines) < min || Number(lines) > max) throw new UsageError('--lines must be a whole number from 20 to 2000.')
  const client = context.connect()
  // Fails with a clear error for an unknown project, which the stream would not.
  await client.call('getProject', { params: { slug } })
  const silence = new AbortController()
  let timer: Timer | undefined
  const restartSilenceTimer = (ms: number) => {
    timer?.cancel()
    if (context.flags.follow !== true) timer = context.clock.setTimeout(() => silence.abort(), ms)
  }
  try {
    const branch = stringFlag(context.flags, 'branch')
    const name = stringFlag(context.flags, 'service')
    const replica = stringFlag(context.flags, 'replica')
    if (replica !== undefined && (name === undefined || !/^\d{1,2}$/.test(replica)))
      throw new UsageError('--replica needs a number, and the name of a service: --service web --replica 2')
    const signal = AbortSignal.any([context.signal, silence.signal])
    const onOpen = () => restartSilenceTimer(firstEventTimeout_ms)
    const events =
      name === undefined
        ? client.stream('streamRuntimeLog', { params: { slug }, query: { lines, format: 'json', branch } }, signal, onOpen)
        : client.stream('streamServiceLog', { params: { slug, name }, query: { lines, branch, replica } }, signal, onOpen)
    for await (const { event, data } of events) {
      restartSilenceTimer(backlogSilence_ms)
      if (context.is_json) {
        if (event === 'log' || event === 'state') context.terminal.out(JSON.stringify({ event, ...(JSON.parse(data) as object) }))
      } else if (event === 'log') {
        printLine(context, JSON.parse(data) as RuntimeLogLine)
      } else if (event === 'state') printState(context, JSON.parse(data) as RuntimeStateEvent)
    }
  } finally {
    timer?.cancel()
  }
  return exitCodes.success
}

function printLine({ terminal }: CommandContext, { line, stream }: RuntimeLogLine | BuildLogLine): void {
  const text = sanitizeLine(terminal, line)
  terminal.out(stream === 'stderr' ? colorize(terminal, 'yellow', text) : text)
}

function printState({ terminal }: CommandContext, { state, exit_code }: RuntimeStateEvent): void {
  terminal.err(colorize(terminal, 'dim', `— ${state}${exit_code === null ? '' : ` (exit code ${exit_code})`} —`))
}

/** Prints a log from its first line, however long it is, at the pace of the output. */
async function printWholeLog(context: CommandContext, slug: string, id: string | undefined): Promise<number> {
  if (context.flags.follow === true) throw new UsageError('--all ends with the last line. Leave out --follow.')
  const { terminal } = context
  const client = context.connect()
  const query = { format: 'ndjson' } as const
  const { branch, service } = { branch: stringFlag(context.flags, 'branch'), service: stringFlag(context.flags, 'service') }
  const chunks =
    id === undefined
      ? await client.download('downloadRuntimeLog', { params: { slug }, query: { ...query, branch, service } }, context.signal)
      : await client.download('downloadBuildLog', { params: { slug, id }, query }, context.signal)
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const json of lines) {
      if (context.is_json) terminal.out(json)
      else printRecord(context, JSON.parse(json) as LogRecord)
    }
    await terminal.flush()
  }
  return exitCodes.success
}

type LogRecord = RuntimeLogLine | BuildLogLine | RuntimeStateEvent | { name: string; status: string } | { dropped: number }

function printRecord(context: CommandContext, record: LogRecord): void {
  if ('line' in record) printLine(context, record)
  else if ('state' in record) printState(context, record)
  else if ('dropped' in record) context.terminal.err(`(${record.dropped} records were removed, because the log was too large)`)
}

async function printBuildLog(context: CommandContext, slug: string, id: string): Promise<number> {
  const client = context.connect()
  const { deployment } = await client.call('getDeployment', { params: { slug, id } })
  if (context.is_json) {
    context.terminal.out(JSON.stringify({ deployment }))
    return exitCodes.success
  }
  const isRunning = deployment.finished_at === null
  if (isRunning && context.flags.follow === true) await followBuild(context, client, slug, id)
  else {
    if (deployment.build_log_truncated) context.terminal.err('(log truncated: only the end is shown; --all prints the whole log)')
    for (const line of deployment.build_log.replace(/\n$/, '').split('\n')) context.terminal.out(sanitizeLine(context.terminal, line))
  }
  return exitCodes.success
}
