import { setImmediate as nextTurn } from 'node:timers/promises'
import { sleep, type Clock } from '../../lib/clock.ts'
import { createLineSplitter } from '../line-splitter.ts'
import type { GroupStreams } from './process-group.ts'

/** No input, and two outputs that are delivered line by line. */
export function createLineStreams(onLine: (stream: 'stdout' | 'stderr', line: string) => void, clock: Clock): GroupStreams {
  return {
    stdio: ['ignore', 'pipe', 'pipe'],
    connect(child) {
      let isHeapExhausted = false
      const outputs = (['stdout', 'stderr'] as const).flatMap((name) => {
        const stream = child[name]
        if (stream === null) return []
        const lines = createLineSplitter((line) => {
          if (name === 'stderr' && /JavaScript heap out of memory/.test(line)) isHeapExhausted = true
          onLine(name, line)
        })
        let last = clock.monotonic()
        stream.on('data', (chunk: Buffer) => {
          last = clock.monotonic()
          lines.write(chunk)
        })
        const closed = new Promise<void>((resolve) => stream.once('close', resolve))
        return [{ stream, lines, closed, idle_ms: () => clock.monotonic() - last }]
      })
      return {
        async drain() {
          await Promise.all(outputs.map((output) => drainPipe(output, clock)))
          for (const { lines } of outputs) lines.end()
        },
        isHeapExhausted: () => isHeapExhausted,
      }
    },
  }
}

interface OutputPipe {
  stream: { destroy(): void }
  closed: Promise<void>
  idle_ms(): number
}

const maxSilence_ms = 1_000

/**
 * Waits for the end of a pipe after the exit of its program. A process that left the group may still hold the pipe; waiting ends after one second
 * without output.
 */
async function drainPipe(output: OutputPipe, clock: Clock): Promise<void> {
  const closed = new AbortController()
  // The last output is often still in the pipe when the exit is reported, so silence before the exit does not count.
  const exited_at = clock.monotonic()
  const getSilence = () => Math.min(output.idle_ms(), clock.monotonic() - exited_at)
  const waitForSilence = async () => {
    while (getSilence() < maxSilence_ms) {
      await sleep(clock, maxSilence_ms - getSilence(), closed.signal)
      // After a stall of the event loop, output in the pipe has not been read yet.
      await nextTurn()
    }
  }
  await Promise.race([output.closed, waitForSilence().catch(() => {})])
  closed.abort()
  output.stream.destroy()
}
