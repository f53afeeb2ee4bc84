import { Readable } from 'node:stream'
import type { Clock } from '../lib/clock.ts'

/** The output of a program, read no faster than its reader consumes it. */
export interface HeldOutput {
  stream: Readable
  /** Called when the program has exited: the output ends with its source, or after a second of silence, because another process may hold the source open. */
  endWhenSilent(): void
}

const maxSilence_ms = 1_000

export function createHeldOutput(source: Readable, clock: Clock): HeldOutput {
  let isOver = false
  let isHeld = true
  let lastAt = clock.monotonic()
  const stream = new Readable({
    read() {
      isHeld = false
      source.resume()
    },
    destroy(error, done) {
      isOver = true
      source.destroy()
      done(error)
    },
  })
  const end = () => {
    if (isOver) return
    isOver = true
    stream.push(null)
  }
  source.on('data', (chunk: Buffer) => {
    lastAt = clock.monotonic()
    if (isOver || stream.push(chunk)) return
    isHeld = true
    source.pause()
  })
  source.pause()
  source.once('end', end).once('close', end)
  // The read error of a terminal whose programs have exited.
  source.once('error', end)
  const checkSilence = () => {
    if (isOver) return
    if (isHeld) lastAt = clock.monotonic()
    else if (clock.monotonic() - lastAt >= maxSilence_ms) {
      end()
      source.destroy()
      return
    }
    clock.setTimeout(checkSilence, maxSilence_ms / 4).unref()
  }
  return {
    stream,
    endWhenSilent() {
      lastAt = clock.monotonic()
      checkSilence()
    },
  }
}
