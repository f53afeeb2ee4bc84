import type { Readable } from 'node:stream'
import type { StepLog } from '../../contract/build-log.ts'
import type { Clock } from '../../lib/clock.ts'
import { decodeBuildKitStatus } from './buildkit-status.ts'
import { explainDockerfileFailure, type PreparedDockerfile } from './dockerfile-failure.ts'
import { createLineSplitter, type LineSplitter } from '../line-splitter.ts'

/** One line of the response to a build. */
interface BuildEvent {
  stream?: string
  error?: string
  id?: string
  status?: string
  aux?: unknown
}

/** A build without output for this time is treated as lost. The time limit of the deployment is usually shorter. */
const maxSilence_ms = 30 * 60_000

/**
 * Writes the response of a build to the log until it ends; throws `BuildFailure` when the build failed, which Docker reports as an event, not as a
 * status.
 */
export async function streamBuildOutput(
  response: Readable,
  log: StepLog,
  signal: AbortSignal,
  file: PreparedDockerfile,
  memory_mb: number,
  clock: Clock,
): Promise<void> {
  let failure: string | undefined
  const classicOutput = createLineSplitter((line) => log.line('stdout', line))
  const buildKitLog = createBuildKitLog(log)
  // One event may contain a long piece of output in base64.
  const events = createLineSplitter(
    (line) => {
      const event = parseEvent(line)
      if (!event) return
      if (event.error) failure = event.error
      else if (event.stream) classicOutput.write(Buffer.from(event.stream))
      else if (event.id === 'moby.buildkit.trace' && typeof event.aux === 'string') buildKitLog.write(event.aux)
      else if (event.status && !event.id) log.line('stdout', event.status)
    },
    16 * 1024 * 1024,
  )
  await new Promise<void>((resolve, reject) => {
    const startSilenceTimer = () => clock.setTimeout(() => response.destroy(new Error('The builder stopped sending output.')), maxSilence_ms)
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
  if (failure) throwBuildFailure(failure, log, file, memory_mb)
}

/** Throws the explanation of an error message of the builder. */
export function throwBuildFailure(failure: string, log: StepLog, file: PreparedDockerfile, memory_mb: number): never {
  // The output of the step shows its failure; other errors of Docker are only in this event.
  if (!/exit code:|non-zero code:/.test(failure)) log.line('stderr', stripMounts(failure))
  throw explainDockerfileFailure(file, stripMounts(failure), memory_mb)
}

/** BuildKit runs steps in parallel; lines are collected per step. */
export function createBuildKitLog(log: StepLog) {
  const seen = new Set<string>()
  const splitters = new Map<string, LineSplitter>()
  const logStep = (digest: string, name: string, cached: boolean) => {
    const key = `${digest}${cached}`
    if (seen.has(key) || /^\[internal\]|^copy \/context|homeport-\S+host-files/.test(name)) return
    seen.add(key)
    log.line('stdout', cached ? `CACHED ${name}` : name)
  }
  return {
    write(base64: string) {
      const { steps, logs } = decodeBuildKitStatus(base64)
      for (const step of steps) if (step.cached || (step.started && !step.completed)) logStep(step.digest, stripMounts(step.name), step.cached)
      for (const { step, stream, data } of logs) {
        const key = `${step}${stream}`
        let splitter = splitters.get(key)
        if (!splitter) splitters.set(key, (splitter = createLineSplitter((line) => log.line(stream, line))))
        splitter.write(data)
      }
    },
    end() {
      for (const splitter of splitters.values()) splitter.end()
    },
  }
}

/** The log shows the user's instruction without the mounts that Homeport adds. */
const stripMounts = (name: string): string => name.replace(/ --mount=type=bind,from=homeport-\S+target=\/dev\/shm\/homeport\/\S+/g, '')

function parseEvent(line: string): BuildEvent | undefined {
  try {
    return JSON.parse(line) as BuildEvent
  } catch {
    return undefined
  }
}
