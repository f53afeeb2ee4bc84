import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { FileSlice } from '../response.ts'
import { edgeLimits } from '../limits.ts'

/** Sends a part of a file with back pressure and reports the parts sent. False: the file was shorter than expected, or the client is gone. */
export async function sendFileSlice(slice: FileSlice, to: Writable, onSent: (bytes: Buffer) => void): Promise<boolean> {
  const closed = new AbortController()
  const onClose = (): void => closed.abort()
  to.once('close', onClose)
  try {
    for (let position = slice.start; position < slice.end;) {
      const length = Math.min(edgeLimits.large_read_bytes, slice.end - position)
      const bytes = Buffer.allocUnsafe(length)
      const count = await slice.read(bytes, position, length)
      if (count === 0 || closed.signal.aborted) return false
      position += count
      const part = bytes.subarray(0, count)
      onSent(part)
      if (!to.write(part)) await once(to, 'drain', { signal: closed.signal })
    }
    return true
  } catch {
    return false
  } finally {
    to.off('close', onClose)
    slice.close()
  }
}
