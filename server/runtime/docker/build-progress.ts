import type { Readable } from 'node:stream'
import type { BuildLog } from '../../contract/build-log.ts'
import type { Clock } from '../../lib/clock.ts'
import { decodeBuildKitStatus } from './buildkit-status.ts'
import { explainDockerfileFailure, type PreparedDockerfile } from './dockerfile-failure.ts'
import { createLineSplitter, type LineSplitter } from '../line-splitter.ts'

/** One line of the answer to a build. */
interface BuildEvent {
  stream?: string
  error?: string
  id?: string
  status?: string
  aux?: unknown
}

/** A build that says nothing and does not end for so long is taken for lost. The deployment's own time limit is shorter as a rule. */
const maxSilence_ms = 30 * 60_000

/** Writes a build's answer into the log until it ends; throws `BuildFailure` when the build failed (which comes as an event, not as a status). */
export async function streamBuildOutput(
  response: Readable,
  log: BuildLog,
  signal: AbortSignal,
  file: PreparedDockerfile,
  memory_mb: number,
  clock: Clock,
): Promise<void> {
  let failure: string | undefined
  const classicOutput = createLineSplitter((line) => log.line('build', 'stdout', line))
  const buildKitLog = createBuildKitLog(log)
  // One event may hold a long piece of output in base64.
  const events = createLineSplitter(
    (line) => {
      const event = parseEvent(line)
      if (!event) return
      if (event.error) failure = event.error
      else if (event.stream) classicOutput.write(Buffer.from(event.stream))
      else if (event.id === 'moby.buildkit.trace' && typeof event.aux === 'string') buildKitLog.write(event.aux)
      else if (event.status && !event.id) log.line('build', 'stdout', event.status)
    },
    16 * 1024 * 1024,
  )
  await new Promise<void>((resolve, reject) => {
    const startSilenceTimer = () => clock.setTimeout(() => response.destroy(new Error('The builder went silent.')), maxSilence_ms)
    let silenceTimer = startSilenceTimer()
    const abort = () => void response.destroy()
    signal.addEventListener('abort', abort, { once: true })
    response.on('data', (chunk: Buffer) => {
      silenceTimer.cancel()
      silenceTimer = startSilenceTimer()
      if (!signal.aborted) events.write(chunk)
    })
    response.once('error', reject)
    response.once('close', () => {
      silenceTimer.cancel()
      signal.removeEventListener('abort', abort)
      if (response.readableEnded) resolve()
      else reject(new Error('The Docker engine broke the build off: socket hang up'))
    })
  })
  events.end()
  classicOutput.end()
  buildKitLog.end()
  // The end of a step is in its own lines; what the engine itself says is told nowhere else.
  if (failure && !/exit code:|non-zero code:/.test(failure)) log.line('build', 'stderr', stripMounts(failure))
  if (failure) throw explainDockerfileFailure(file, stripMounts(failure), memory_mb)
}

/** BuildKit runs steps side by side: each has its own lines. */
function createBuildKitLog(log: BuildLog) {
  const seen = new Set<string>()
  const splitters = new Map<string, LineSplitter>()
  const logStep = (digest: string, name: string, cached: boolean) => {
    const key = `${digest}${cached}`
    if (seen.has(key) || /^\[internal\]|^copy \/context|homeport-\S+host-files/.test(name)) return
    seen.add(key)
    log.line('build', 'stdout', cached ? `CACHED ${name}` : name)
  }
  return {
    write(base64: string) {
      const { steps, logs } = decodeBuildKitStatus(base64)
      for (const step of steps) if (step.cached || (step.started && !step.completed)) logStep(step.digest, stripMounts(step.name), step.cached)
      for (const { step, stream, data } of logs) {
        const key = `${step}${stream}`
        let splitter = splitters.get(key)
        if (!splitter) splitters.set(key, (splitter = createLineSplitter((line) => log.line('build', stream, line))))
        splitter.write(data)
      }
    },
    end() {
      for (const splitter of splitters.values()) splitter.end()
    },
  }
}

/** The log shows the user's instruction, not what we put into it. */
const stripMounts = (name: string): string => name.replace(/ --mount=type=bind,from=homeport-\S+target=\/dev\/shm\/homeport\/\S+/g, '')

function parseEvent(line: string): BuildEvent | undefined {
  try {
    return JSON.parse(line) as BuildEvent
  } catch {
    return undefined
  }
}
