import { connect } from 'node:net'
import { frame } from './edge-upstream.ts'

// `node edge-sockets.ts PORT CONNECTIONS SECONDS`: each connection sends a message and waits for the reply; prints messages per second.
const [port, connections, seconds] = process.argv.slice(2).map(Number) as [number, number, number]
const message = Buffer.concat([Buffer.from([0x81, 0x80 | 100, 0, 0, 0, 0]), Buffer.alloc(100, 'q')])
let count = 0
for (let i = 0; i < connections; i++) {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  let open = false
  let bytes = 0
  socket.on('data', (data) => {
    if (!open) {
      if (!data.toString('latin1').includes('\r\n\r\n')) return
      open = true
      return void socket.write(message)
    }
    bytes += data.length
    for (; bytes >= frame.answer.length; bytes -= frame.answer.length) {
      count++
      socket.write(message)
    }
  })
  socket.write(
    'GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  )
}
setTimeout(() => {
  console.log(count / seconds)
  process.exit(0)
}, seconds * 1000)
