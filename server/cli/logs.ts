import type { RuntimeLogLine, RuntimeStateEvent } from '../contract/deployments.ts'
import { limits } from '../contract/limits.ts'
import type { Timer } from '../lib/clock.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { followBuild } from './follow-build.ts'
import { colorize, sanitizeLine } from './terminal.ts'

/** The stream does not mark the end of the backlog. Silence of this length counts as its end. */
const backlogSilence_ms = 500
/** Time allowed for the first event after the stream opened, on a busy machine. */
const firstEventTimeout_ms = 3_000

export const logs: CliCommand = {
  summary: 'Prints the runtime log of an app, or a build log.',
  usage: ['logs SLUG [--service NAME] [--follow] [--lines N]', 'logs SLUG --build ID'],
  options: {
    follow: 'keep following until Ctrl-C',
    lines: '=N number of recent lines, 20 to 2000 (default 200)',
    branch: '=NAME show the preview of this branch',
    service: '=NAME show a worker, an image or another service',
    build: '=ID show the build log of this deployment',
  },
  async run(context) {
    const [slug = ''] = requirePositionals(context, 'SLUG')
    const build = stringFlag(context.flags, 'build')
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
    const signal = AbortSignal.any([context.signal, silence.signal])
    const onOpen = () => restartSilenceTimer(firstEventTimeout_ms)
    const events =
      name === undefined
        ? client.stream('streamRuntimeLog', { params: { slug }, query: { lines, format: 'json', branch } }, signal, onOpen)
        : client.stream('streamServiceLog', { params: { slug, name }, query: { lines, branch } }, signal, onOpen)
    for await (const { event, data } of events) {
      restartSilenceTimer(backlogSilence_ms)
      if (context.is_json) {
        if (event === 'log' || event === 'state') context.terminal.out(JSON.stringify({ event, ...(JSON.parse(data) as object) }))
      } else if (event === 'log') {
        const line = JSON.parse(data) as RuntimeLogLine
        const printableLine = sanitizeLine(context.terminal, line.line)
        context.terminal.out(line.stream === 'stderr' ? colorize(context.terminal, 'yellow', printableLine) : printableLine)
      } else if (event === 'state') {
        const state = JSON.parse(data) as RuntimeStateEvent
        context.terminal.err(
          colorize(context.terminal, 'dim', `— ${state.state}${state.exit_code === null ? '' : ` (exit code ${state.exit_code})`} —`),
        )
      }
    }
  } finally {
    timer?.cancel()
  }
  return exitCodes.success
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
    if (deployment.build_log_truncated) context.terminal.err('(log truncated: only the end is shown)')
    for (const line of deployment.build_log.replace(/\n$/, '').split('\n')) context.terminal.out(sanitizeLine(context.terminal, line))
  }
  return exitCodes.success
}
