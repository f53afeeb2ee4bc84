import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { createServer, type Server, type Socket } from 'node:net'
import type { Log } from '../../lib/log.ts'
import { answerDnsMessage, type ZoneLookup } from './authoritative-answer.ts'

export interface DnsServer {
  /** The port it listens on, or undefined. */
  port(): number | undefined
  /** Why it could not listen. */
  listenError(): string | undefined
  /** Listens on this port, or stops listening (null). Resolves when done. */
  listen(port: number | null): Promise<void>
  close(): Promise<void>
}

/** Only loopback, so that the server cannot be used for amplification attacks. */
const loopback = '127.0.0.1'
const maxConnections = 64
const idleTimeout_ms = 5_000

/** The instance's own authoritative DNS server over UDP and TCP. It answers for the domains of this instance and refuses all others. */
export function createDnsServer({ zones, log }: { zones: ZoneLookup; log: Log }): DnsServer {
  let open: { port: number; close(): Promise<void> } | undefined
  let listenError: string | undefined
  let last: Promise<void> = Promise.resolve()

  const switchPort = async (port: number | null): Promise<void> => {
    if (open?.port === port && port !== 0) return
    await open?.close()
    open = undefined
    listenError = undefined
    if (port === null) return
    try {
      open = await openSockets(port, zones)
      log.info('dns_server_started', { port: open.port })
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      listenError =
        code === 'EADDRINUSE'
          ? `Port ${port} is in use by another program.`
          : code === 'EACCES'
            ? `Port ${port} requires administrator rights.`
            : `Port ${port} could not be opened.`
      log.warn('dns_server_start_failed', { port, error })
    }
  }

  return {
    port: () => open?.port,
    listenError: () => listenError,
    listen: (port) => (last = last.then(() => switchPort(port))),
    close: () => (last = last.then(() => switchPort(null))),
  }
}

/** A free TCP port may be in use for UDP, so several are tried. */
const maxBindAttempts = 20

async function openSockets(requestedPort: number, zones: ZoneLookup): Promise<{ port: number; close(): Promise<void> }> {
  for (let attempt = 1; ; attempt++)
    try {
      return await bindSockets(requestedPort, zones)
    } catch (error) {
      if (requestedPort !== 0 || attempt === maxBindAttempts || !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'))
        throw error
    }
}

async function bindSockets(requestedPort: number, zones: ZoneLookup): Promise<{ port: number; close(): Promise<void> }> {
  const connections = new Set<Socket>()
  const tcpServer = createServer((socket) => serveTcpConnection(socket, zones, connections))
  tcpServer.maxConnections = maxConnections
  const port = await listenTcp(tcpServer, requestedPort)
  const udpSocket = createSocket('udp4')
  udpSocket.on('message', (message, from) => {
    const answer = answerDnsMessage(message, zones)
    if (answer) udpSocket.send(answer, from.port, from.address, () => {})
  })
  try {
    await bindUdp(udpSocket, port)
  } catch (error) {
    await new Promise<void>((done) => tcpServer.close(() => done()))
    throw error
  }
  return {
    port,
    async close() {
      for (const socket of connections) socket.destroy()
      await Promise.all([new Promise<void>((done) => tcpServer.close(() => done())), new Promise<void>((done) => udpSocket.close(() => done()))])
    },
  }
}

const listenTcp = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, loopback, () => {
      server.off('error', reject)
      server.on('error', () => {})
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })

const bindUdp = (socket: Datagrams, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close()
      reject(error)
    })
    socket.bind(port, loopback, () => {
      socket.removeAllListeners('error')
      socket.on('error', () => {})
      resolve()
    })
  })

/** DNS over TCP: each message follows its length in two bytes (RFC 1035 §4.2.2). */
function serveTcpConnection(socket: Socket, zones: ZoneLookup, connections: Set<Socket>): void {
  connections.add(socket)
  socket.on('close', () => connections.delete(socket))
  socket.on('error', () => socket.destroy())
  socket.setTimeout(idleTimeout_ms, () => socket.destroy())
  let buffered = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk])
    while (buffered.length >= 2) {
      const length = buffered.readUInt16BE(0)
      if (buffered.length < length + 2) return
      const answer = answerDnsMessage(buffered.subarray(2, length + 2), zones)
      buffered = buffered.subarray(length + 2)
      if (!answer) return void socket.destroy()
      const size = Buffer.alloc(2)
      size.writeUInt16BE(answer.length)
      // A client that does not read its answers is disconnected.
      if (!socket.write(Buffer.concat([size, answer])) && socket.writableLength > 65_536) return void socket.destroy()
    }
  })
}
