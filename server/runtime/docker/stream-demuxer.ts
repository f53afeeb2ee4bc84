import { createLineSplitter } from '../line-splitter.ts'

/** Splits Docker's framed output: a header of 8 bytes (stream, three zeros, length), then the content. */
export interface StreamDemuxer {
  write(chunk: Buffer): void
}

const header_bytes = 8

export function createStreamDemuxer(onData: (stream: 'stdout' | 'stderr', data: Buffer) => void): StreamDemuxer {
  const header = Buffer.alloc(header_bytes)
  let headerFilled = 0
  let remaining = 0
  let stream: 'stdout' | 'stderr' = 'stdout'

  return {
    write(chunk) {
      let at = 0
      while (at < chunk.length) {
        if (remaining === 0) {
          const copied = chunk.copy(header, headerFilled, at, Math.min(chunk.length, at + header_bytes - headerFilled))
          headerFilled += copied
          at += copied
          if (headerFilled < header_bytes) return
          headerFilled = 0
          stream = header[0] === 2 ? 'stderr' : 'stdout'
          remaining = header.readUInt32BE(4)
          continue
        }
        const end = Math.min(chunk.length, at + remaining)
        onData(stream, chunk.subarray(at, end))
        remaining -= end - at
        at = end
      }
    },
  }
}

/** The output of one container as lines, from reads that may break off and restart. */
export interface ContainerOutput {
  /** Continues at the end of the live stream. */
  createLiveReader(): StreamDemuxer
  /** Reads the whole output from the first byte and skips bytes that an earlier read delivered. */
  createFullReader(): StreamDemuxer
  end(): void
}

export function createContainerOutput(onLine: (stream: 'stdout' | 'stderr', line: string) => void): ContainerOutput {
  const lines = { stdout: createLineSplitter((line) => onLine('stdout', line)), stderr: createLineSplitter((line) => onLine('stderr', line)) }
  const delivered = { stdout: 0, stderr: 0 }
  const deliver = (stream: 'stdout' | 'stderr', data: Buffer) => {
    delivered[stream] += data.length
    lines[stream].write(data)
  }
  return {
    createLiveReader: () => createStreamDemuxer(deliver),
    createFullReader() {
      const seen = { stdout: 0, stderr: 0 }
      return createStreamDemuxer((stream, data) => {
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

/** Reads output with timestamps, and reports the lines after a time. Times are those of the engine: RFC 3339 with nine digits, which sorts as text. */
export function createTimestampedReader(
  after: string,
  onLine: (stream: 'stdout' | 'stderr', line: string) => void,
): StreamDemuxer & { newest(): string; end(): void } {
  let newest = after
  const createTimestampStripper = (stream: 'stdout' | 'stderr') =>
    createLineSplitter((line) => {
      const time = line.slice(0, line.indexOf(' '))
      if (time <= after) return
      if (time > newest) newest = time
      onLine(stream, line.slice(time.length + 1))
    })
  const lines = { stdout: createTimestampStripper('stdout'), stderr: createTimestampStripper('stderr') }
  return {
    ...createStreamDemuxer((stream, data) => lines[stream].write(data)),
    newest: () => newest,
    end() {
      lines.stdout.end()
      lines.stderr.end()
    },
  }
}
