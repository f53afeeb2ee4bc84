import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { createSeededRandom, waitEventLoopTurns } from './seeded-random.ts'
import { startRawApp } from './edge.ts'

const seededRandom = createSeededRandom(20_261_121)

/** Faults of an app on raw sockets, selected with `X-Fault`. Without the header it responds correctly. */
export type Fault = keyof typeof faults

export const faults = {
  'hangs before its head': (socket) => void socket,
  'hangs in its head': (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-'),
  'closes before its head': (socket) => void socket.end(),
  'resets before its head': (socket) => void socket.resetAndDestroy(),
  'resets in its head': (socket) => writeThenClose(socket, 'HTTP/1.1 200 OK\r\nContent-', 'reset'),
  'sends garbage': (socket) => void socket.write('\x00\x01\x02 garbage\r\ngarbage\r\n\r\n'),
  'sends two lengths': (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc'),
  'resets in its body': (socket, body) => writeThenClose(socket, wellFormedResponse(body, 0.5), 'reset'),
  'says more than it sends': (socket, body) => writeThenClose(socket, wellFormedResponse(body, 0.5), 'close'),
  'sends more than it says': (socket, body) =>
    void socket.write(Buffer.concat([wellFormedResponse(body, 1), Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstray!')])),
  'ends its chunks too soon': (socket, body) => writeThenClose(socket, chunkedResponse(body, ''), 'close'),
  'ends its chunks without the last line': (socket, body) => writeThenClose(socket, chunkedResponse(body, '0\r\n'), 'close'),
  'breaks its chunks': (socket, body) => void socket.write(chunkedResponse(body, 'zz\r\n\r\n')),
  'resets a body without a length': (socket, body) => writeThenClose(socket, Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), body]), 'reset'),
  'closes at random': (socket, body) => {
    socket.write(wellFormedResponse(body, 1))
    if (seededRandom.chance(0.5))
      void waitEventLoopTurns(seededRandom.between(0, 20)).then(
        () => socket.writableEnded || (seededRandom.chance(0.5) ? socket.end() : socket.resetAndDestroy()),
      )
  },
  'streams for ever': (socket) => void socket.write(chunkedResponse(Buffer.alloc(1000, 'e'), '')),
} satisfies Record<string, (socket: Socket, body: Buffer) => void>

/** Every target has its own body, from 2 bytes to 40 kB, which identifies the target. */
export function bodyOf(target: string): Buffer {
  const hash = createHash('sha256').update(target).digest()
  return Buffer.alloc(2 + (hash.readUInt16LE(0) % (hash[2]! < 32 ? 40_000 : 2_000)), `${target} ${hash.toString('hex')} `)
}

/** `sockets`: the open connections of the edge. `hung`: targets of requests without a response. */
export async function startFaultApp() {
  const hung = new Set<string>()
  const app = await startRawApp((socket) => {
    let text = ''
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1')
      // The edge sends one request at a time per connection.
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0)
      if (text.length < end + 4 + length) return
      const [, method = '', target = ''] = /^(\S+) (\S+)/.exec(text) ?? []
      const fault = /\r\nx-fault: ([^\r]+)/i.exec(text.slice(0, end))?.[1]
      const requestBody = Buffer.from(text.slice(end + 4), 'latin1')
      text = ''
      const body = method === 'POST' ? requestBody : bodyOf(target)
      if (fault?.startsWith('hangs')) hung.add(target)
      if (fault !== undefined && fault in faults) faults[fault as Fault](socket, body)
      else socket.write(wellFormedResponse(body, method === 'HEAD' ? 0 : 1))
    })
  })
  return { ...app, hung }
}

function wellFormedResponse(body: Buffer, share: number): Buffer {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nCache-Control: public, max-age=600\r\n\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), body.subarray(0, Math.floor(body.length * share))])
}

function chunkedResponse(body: Buffer, end: string): Buffer {
  const head = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: public, max-age=600\r\n\r\n${body.length.toString(16)}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), body, Buffer.from(`\r\n${end}`)])
}

/** Writes, and closes once the bytes have arrived. */
function writeThenClose(socket: Socket, bytes: string | Buffer, ending: 'reset' | 'close'): void {
  socket.write(bytes, () => void waitEventLoopTurns(3).then(() => (ending === 'reset' ? socket.resetAndDestroy() : socket.end())))
}
