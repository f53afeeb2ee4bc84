import { createServer, type AddressInfo, type Socket } from 'node:net'

// The app of the stream measures, on raw sockets so that it is never the bottleneck: `GET /events` is an endless event
// stream, any upgrade a WebSocket that answers each message. Prints its port.

/** One event, as a separate chunk. */
const line = `data: ${'e'.repeat(92)}\n\n`
const event = Buffer.from(`${line.length.toString(16)}\r\n${line}\r\n`)
/** A masked text frame of 100 bytes as clients send it, and the reply. */
export const frame = { request_bytes: 106, answer: Buffer.concat([Buffer.from([0x81, 100]), Buffer.alloc(100, 'a')]) }

if (import.meta.main) {
  const streams = new Set<Socket>()
  let ticking = false
  const tick = (): void => {
    for (const socket of streams) if (!socket.writableNeedDrain) socket.write(event)
    ticking = streams.size > 0
    if (ticking) setImmediate(tick)
  }
  const server = createServer({ noDelay: true }, (socket) => {
    let head = ''
    let bytes = 0
    socket.on('error', () => {})
    socket.on('close', () => streams.delete(socket))
    socket.on('data', (data) => {
      if (head !== 'socket') {
        head += data.toString('latin1')
        if (!head.includes('\r\n\r\n')) return
        if (/^upgrade:/im.test(head)) {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n')
          head = 'socket'
          return
        }
        head = ''
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n')
        streams.add(socket)
        if (!ticking) setImmediate(tick)
        ticking = true
        return
      }
      bytes += data.length
      for (; bytes >= frame.request_bytes; bytes -= frame.request_bytes) socket.write(frame.answer)
    })
  })
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
}
