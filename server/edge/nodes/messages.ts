import type { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { maxMessage_bytes } from './protocol.ts'

/** Sends a message as a line. */
export const writeMessage = (socket: Duplex, message: unknown): void => void socket.write(`${JSON.stringify(message)}\n`)

/** Calls back with each line. A line that is too long or no JSON ends the connection. */
export function readMessages(socket: Duplex, onMessage: (message: unknown) => void): void {
  let parts: string[] = []
  let size = 0
  // The socket of an HTTP server takes no encoding.
  const decoder = new StringDecoder('utf8')
  socket.on('data', (bytes: Buffer) => {
    const text = decoder.write(bytes)
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      parts.push(text.slice(from, end))
      from = end + 1
      const line = parts.join('')
      parts = []
      size = 0
      let message: unknown
      try {
        message = JSON.parse(line)
      } catch {
        return void socket.destroy()
      }
      onMessage(message)
    }
    if (from === text.length) return
    parts.push(text.slice(from))
    size += text.length - from
    if (size > maxMessage_bytes) socket.destroy()
  })
}
