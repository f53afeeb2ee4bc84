import { fstatSync, writeSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { isatty } from 'node:tty'

/** Unread output held in memory for a stalled reader. */
const maxBacklog_bytes = 2 ** 20

/**
 * Writes lines to a standard stream. If the stream fails (closed pipe, full disk) or stalls, lines are dropped, because output must never
 * stop the program.
 */
export function createLineWriter(stream: Writable & { fd?: number }): (line: string) => void {
  let dropped = 0
  stream.on('error', () => {})
  const { fd } = stream
  // Files are written through the descriptor: a stream stays broken after an error, but a full disk may get space again.
  const writeText = fd !== undefined && isFile(fd) ? (text: string) => void writeSync(fd, text) : (text: string) => void stream.write(text)
  const write = (line: string) => {
    try {
      writeText(`${line}\n`)
    } catch {
      dropped += 1
    }
  }
  return (line) => {
    if (stream.writableLength > maxBacklog_bytes) {
      dropped += 1
      return
    }
    if (dropped > 0) {
      const count = dropped
      dropped = 0
      write(`${count} lines were dropped, because the output was full or not read.`)
    }
    write(line)
  }
}

/** Node also writes files and devices synchronously; not so pipes, sockets and terminals. */
function isFile(fd: number): boolean {
  const entry = fstatSync(fd)
  return entry.isFile() || (entry.isCharacterDevice() && !isatty(fd))
}
