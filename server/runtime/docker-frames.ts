import { createLineSplitter } from './lines.ts'

/** Takes the engine's framed output apart: 8 bytes of head (stream, three zeros, length), then so many bytes. */
export interface FrameScanner {
  write(chunk: Buffer): void
}

const headBytes = 8

export function createFrameScanner(onData: (stream: 'stdout' | 'stderr', data: Buffer) => void): FrameScanner {
  const head = Buffer.alloc(headBytes)
  let headFilled = 0
  let left = 0
  let stream: 'stdout' | 'stderr' = 'stdout'

  return {
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
        onData(stream, chunk.subarray(at, end))
        left -= end - at
        at = end
      }
    },
  }
}

/** The output of one container as lines, from readings that may break off and begin anew. */
export interface Output {
  /** Reads on from where the live stream goes. */
  live(): FrameScanner
  /** Reads the whole output from its first byte, and passes over what was delivered by any reading before. */
  full(): FrameScanner
  end(): void
}

export function createOutput(onLine: (stream: 'stdout' | 'stderr', line: string) => void): Output {
  const lines = { stdout: createLineSplitter((line) => onLine('stdout', line)), stderr: createLineSplitter((line) => onLine('stderr', line)) }
  const delivered = { stdout: 0, stderr: 0 }
  const deliver = (stream: 'stdout' | 'stderr', data: Buffer) => {
    delivered[stream] += data.length
    lines[stream].write(data)
  }
  return {
    live: () => createFrameScanner(deliver),
    full() {
      const seen = { stdout: 0, stderr: 0 }
      return createFrameScanner((stream, data) => {
        const skip = Math.min(data.length, Math.max(0, delivered[stream] - seen[stream]))
        seen[stream] += data.length
        if (skip < data.length) deliver(stream, data.subarray(skip))
      })
    },
    end() {
      lines.stdout.end()
      lines.stderr.end()
    },
  }
}
