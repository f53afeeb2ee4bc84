import type { RuntimeLogLine, RuntimeStateEvent } from '../contract/deployments.ts'
import { limits } from '../contract/limits.ts'
import type { Timer } from '../lib/clock.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { followBuild } from './follow-build.ts'
import { colorize, sanitizeLine } from './terminal.ts'

/** The stream sends the backlog at once and does not say where it ends: silence of this length is taken for the end. */
const backlogSilence_ms = 500
/** How long its first event may take on a busy machine, once the stream has begun: before that a silence says nothing. */
const firstEventTimeout_ms = 3_000

export const logs: CliCommand = {
  summary: 'Prints what an app says, or the log of a build.',
  usage: ['logs SLUG [--follow] [--lines N]', 'logs SLUG --build ID'],
  options: {
    follow: 'go on until Ctrl-C',
    lines: '=N how many lines to begin with, 20 to 2000 (default 200)',
    branch: '=NAME of the preview of this branch',
    build: '=ID the log of this deployment',
  },
  async run(context) {
    const [slug = ''] = requirePositionals(context, 'SLUG')
    const build = stringFlag(context.flags, 'build')
    return build === undefined ? printRuntimeLog(context, slug) : printBuildLog(context, slug, build)
  },
}

async function printRuntimeLog(context: CommandContext, slug: string): Promise<number> {
  const lines = stringFlag(context.flags, 'lines') ?? String(limits.runtime_log_lines.default)
  if (!/^\d+$/.test(lines)) throw new UsageError('--lines takes a whole number from 20 to 2000.')
  const client = context.connect()
  // Whether there is such a project is asked first: a refusal is worth more than a stream that ends.
  await client.call('getProject', { params: { slug } })
  const silence = new AbortController()
  let timer: Timer | undefined
  const restartSilenceTimer = (ms: number) => {
    timer?.cancel()
    if (context.flags.follow !== true) timer = context.clock.setTimeout(() => silence.abort(), ms)
  }
  try {
    for await (const { event, data } of client.stream(
      'streamRuntimeLog',
      { params: { slug }, query: { lines, format: 'json', branch: stringFlag(context.flags, 'branch') } },
      AbortSignal.any([context.signal, silence.signal]),
      () => restartSilenceTimer(firstEventTimeout_ms),
    )) {
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
    if (deployment.build_log_truncated) context.terminal.err('(only the end of a long log)')
    for (const line of deployment.build_log.replace(/\n$/, '').split('\n')) context.terminal.out(sanitizeLine(context.terminal, line))
  }
  return exitCodes.success
}
