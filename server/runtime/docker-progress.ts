import type { Readable } from 'node:stream'
import type { BuildLog } from '../contract/build-log.ts'
import type { Clock } from '../lib/clock.ts'
import { decodeBuildKitStatus } from './docker-buildkit.ts'
import { dockerfileFailure, type BuiltFile } from './docker-file-failure.ts'
import { createLineSplitter, type LineSplitter } from './lines.ts'

/** One line of the answer to a build. */
interface BuildEvent {
  stream?: string
  error?: string
  id?: string
  status?: string
  aux?: unknown
}

/** A build that says nothing and does not end for so long is taken for lost. The deployment's own time limit is shorter as a rule. */
const longestSilence_ms = 30 * 60_000

/** Writes a build's answer into the log until it ends; throws `BuildFailure` when the build failed (which comes as an event, not as a status). */
export async function readBuild(
  answer: Readable,
  log: BuildLog,
  signal: AbortSignal,
  file: BuiltFile,
  memory_mb: number,
  clock: Clock,
): Promise<void> {
  let failure: string | undefined
  const classic = createLineSplitter((line) => log.line('build', 'stdout', line))
  const steps = createSteps(log)
  // One event may hold a long piece of output in base64.
  const events = createLineSplitter(
    (line) => {
      const event = parse(line)
      if (!event) return
      if (event.error) failure = event.error
      else if (event.stream) classic.write(Buffer.from(event.stream))
      else if (event.id === 'moby.buildkit.trace' && typeof event.aux === 'string') steps.write(event.aux)
      else if (event.status && !event.id) log.line('build', 'stdout', event.status)
    },
    16 * 1024 * 1024,
  )
  await new Promise<void>((resolve, reject) => {
    const watch = () => clock.setTimeout(() => answer.destroy(new Error('The builder went silent.')), longestSilence_ms)
    let silence = watch()
    const abort = () => void answer.destroy()
    signal.addEventListener('abort', abort, { once: true })
    answer.on('data', (chunk: Buffer) => {
      silence.cancel()
      silence = watch()
      if (!signal.aborted) events.write(chunk)
    })
    answer.once('error', reject)
    answer.once('close', () => {
      silence.cancel()
      signal.removeEventListener('abort', abort)
      if (answer.readableEnded) resolve()
      else reject(new Error('The Docker engine broke the build off: socket hang up'))
    })
  })
  events.end()
  classic.end()
  steps.end()
  // The end of a step is in its own lines; what the engine itself says is told nowhere else.
  if (failure && !/exit code:|non-zero code:/.test(failure)) log.line('build', 'stderr', withoutMounts(failure))
  if (failure) throw dockerfileFailure(file, withoutMounts(failure), memory_mb)
}

/** BuildKit runs steps side by side: each has its own lines. */
function createSteps(log: BuildLog) {
  const seen = new Set<string>()
  const splitters = new Map<string, LineSplitter>()
  const say = (digest: string, name: string, cached: boolean) => {
    const key = `${digest}${cached}`
    if (seen.has(key) || /^\[internal\]|^copy \/context|homeport-\S+host-files/.test(name)) return
    seen.add(key)
    log.line('build', 'stdout', cached ? `CACHED ${name}` : name)
  }
  return {
    write(base64: string) {
      const { steps, logs } = decodeBuildKitStatus(base64)
      for (const step of steps) if (step.cached || (step.started && !step.completed)) say(step.digest, withoutMounts(step.name), step.cached)
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
const withoutMounts = (name: string): string => name.replace(/ --mount=type=bind,from=homeport-\S+target=\/dev\/shm\/homeport\/\S+/g, '')

function parse(line: string): BuildEvent | undefined {
  try {
    return JSON.parse(line) as BuildEvent
  } catch {
    return undefined
  }
}
