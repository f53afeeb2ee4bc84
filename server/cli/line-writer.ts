import { fstatSync, writeSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { isatty } from 'node:tty'

/** How much a reader that does not read may leave waiting in memory (bytes). */
const maxBacklog_bytes = 2 ** 20

/**
 * Writes lines to a standard stream. The stream may fail (a reader that is gone, a full disk) or stall: a line that cannot be written is
 * dropped, because output must never stop the program that it reports on.
 */
export function createLineWriter(stream: Writable & { fd?: number }): (line: string) => void {
  let dropped = 0
  stream.on('error', () => {})
  const { fd } = stream
  // A stream that failed once stays dead; a file can be written again once its disk has room.
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
      write(`${count} lines were not written, because the output was full or nothing read it.`)
    }
    write(line)
  }
}

/** Files and devices are written synchronously by Node too; pipes, sockets and terminals are not. */
function isFile(fd: number): boolean {
  const entry = fstatSync(fd)
  return entry.isFile() || (entry.isCharacterDevice() && !isatty(fd))
}
