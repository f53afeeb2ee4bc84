import type { Writable } from 'node:stream'
import type { FileSlice } from './answer.ts'
import { limits } from './limits.ts'

/** Sends a part of a file as fast as the client takes it. `done(false)`: the file was shorter than promised, or the client is gone. */
export function sendSlice(slice: FileSlice, to: Writable, done: (whole: boolean) => void): void {
  let position = slice.start
  let over = false
  const finish = (whole: boolean): void => {
    if (over) return
    over = true
    to.off('close', gone)
    slice.close()
    done(whole)
  }
  const gone = (): void => finish(false)
  to.once('close', gone)
  const next = (): void => {
    if (over) return
    if (position >= slice.end) return finish(true)
    const length = Math.min(limits.large_read_bytes, slice.end - position)
    slice.read(Buffer.allocUnsafe(length), position, length, (error, count, bytes) => {
      if (over) return
      if (error || count === 0) return finish(false)
      position += count
      if (to.write(bytes.subarray(0, count))) next()
      else to.once('drain', next)
    })
  }
  next()
}
