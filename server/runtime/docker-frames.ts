import { createLineSplitter } from './lines.ts'

/** Takes the engine's framed output apart: 8 bytes of head (stream, three zeros, length), then so many bytes. */
export interface FrameScanner {
  write(chunk: Buffer): void
  /** Bytes of payload so far, by stream. */
  readonly received: { stdout: number; stderr: number }
}

const headBytes = 8

export function createFrameScanner(onData: (stream: 'stdout' | 'stderr', data: Buffer) => void): FrameScanner {
  const received = { stdout: 0, stderr: 0 }
  const head = Buffer.alloc(headBytes)
  let headFilled = 0
  let left = 0
  let stream: 'stdout' | 'stderr' = 'stdout'

  return {
    received,
    write(chunk) {
      let at = 0
      while (at < chunk.length) {
        if (left === 0) {
          const taken = chunk.copy(head, headFilled, at, Math.min(chunk.length, at + headBytes - headFilled))
          headFilled += taken
          at += taken
          if (headFilled < headBytes) return
          headFilled = 0
          stream = head[0] === 2 ? 'stderr' : 'stdout'
          left = head.readUInt32BE(4)
          continue
        }
        const end = Math.min(chunk.length, at + left)
        received[stream] += end - at
        onData(stream, chunk.subarray(at, end))
        left -= end - at
        at = end
      }
    },
  }
}

/** Bytes of both streams into lines, counting what came, so that a later full reading can go on where this one broke off. */
export function createOutput(onLine: (stream: 'stdout' | 'stderr', line: string) => void) {
  const lines = { stdout: createLineSplitter((line) => onLine('stdout', line)), stderr: createLineSplitter((line) => onLine('stderr', line)) }
  const scanner = () => createFrameScanner((stream, data) => lines[stream].write(data))
  let current = scanner()
  return {
    /** Live output. */
    write: (chunk: Buffer) => current.write(chunk),
    get received() {
      return { ...current.received }
    },
    /** A full reading from the first byte on: what was received live is passed over. */
    catchUp(): (chunk: Buffer) => void {
      const have = { ...current.received }
      const seen = { stdout: 0, stderr: 0 }
      const full = createFrameScanner((stream, data) => {
        const skip = Math.min(data.length, Math.max(0, have[stream] - seen[stream]))
        seen[stream] += data.length
        if (skip < data.length) lines[stream].write(data.subarray(skip))
      })
      return (chunk) => full.write(chunk)
    },
    /** A live reading anew, after the connection broke. */
    restart() {
      current = scanner()
    },
    end() {
      lines.stdout.end()
      lines.stderr.end()
    },
  }
}
