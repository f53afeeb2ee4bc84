import type { RuntimeLogLine, RuntimeStateEvent } from '../contract/deployments.ts'
import { limits } from '../contract/limits.ts'
import type { Timer } from '../lib/clock.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { followBuild } from './follow-build.ts'
import { paint, printable } from './terminal.ts'

/** The stream sends the backlog at once and does not say where it ends: silence of this length is taken for the end. */
const backlog_silence_ms = 500
/** How long its first event may take on a busy machine, once the stream has begun: before that a silence says nothing. */
const first_event_ms = 3_000

export const logs: Command = {
  summary: 'Prints what an app says, or the log of a build.',
  forms: ['logs SLUG [--follow] [--lines N]', 'logs SLUG --build ID'],
  options: {
    follow: 'go on until Ctrl-C',
    lines: '=N how many lines to begin with, 20 to 2000 (default 200)',
    branch: '=NAME of the preview of this branch',
    build: '=ID the log of this deployment',
  },
  async run(call) {
    const [slug = ''] = words(call, 'SLUG')
    const build = text(call.flags, 'build')
    return build === undefined ? runtimeLog(call, slug) : buildLog(call, slug, build)
  },
}

async function runtimeLog(call: Call, slug: string): Promise<number> {
  const lines = text(call.flags, 'lines') ?? String(limits.runtime_log_lines.default)
  if (!/^\d+$/.test(lines)) throw new UsageError('--lines takes a whole number from 20 to 2000.')
  const client = call.connect()
  // Whether there is such a project is asked first: a refusal is worth more than a stream that ends.
  await client.call('getProject', { params: { slug } })
  const silence = new AbortController()
  let timer: Timer | undefined
  const wait = (ms: number) => {
    timer?.cancel()
    if (call.flags.follow !== true) timer = call.clock.setTimeout(() => silence.abort(), ms)
  }
  try {
    for await (const { event, data } of client.stream(
      'streamRuntimeLog',
      { params: { slug }, query: { lines, format: 'json', branch: text(call.flags, 'branch') } },
      AbortSignal.any([call.signal, silence.signal]),
      () => wait(first_event_ms),
    )) {
      wait(backlog_silence_ms)
      if (call.json) {
        if (event === 'log' || event === 'state') call.terminal.out(JSON.stringify({ event, ...(JSON.parse(data) as object) }))
      } else if (event === 'log') {
        const line = JSON.parse(data) as RuntimeLogLine
        const shown = printable(call.terminal, line.line)
        call.terminal.out(line.stream === 'stderr' ? paint(call.terminal, 'yellow', shown) : shown)
      } else if (event === 'state') {
        const state = JSON.parse(data) as RuntimeStateEvent
        call.terminal.err(paint(call.terminal, 'dim', `— ${state.state}${state.exit_code === null ? '' : ` (exit code ${state.exit_code})`} —`))
      }
    }
  } finally {
    timer?.cancel()
  }
  return exitCodes.done
}

async function buildLog(call: Call, slug: string, id: string): Promise<number> {
  const client = call.connect()
  const { deployment } = await client.call('getDeployment', { params: { slug, id } })
  if (call.json) {
    call.terminal.out(JSON.stringify({ deployment }))
    return exitCodes.done
  }
  const isRunning = deployment.finished_at === null
  if (isRunning && call.flags.follow === true) await followBuild(call, client, slug, id)
  else {
    if (deployment.build_log_truncated) call.terminal.err('(only the end of a long log)')
    for (const line of deployment.build_log.replace(/\n$/, '').split('\n')) call.terminal.out(printable(call.terminal, line))
  }
  return exitCodes.done
}
