import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { until } from './until.ts'

/** A syslog receiver on this machine that records the messages it receives. */
export interface SyslogReceiver {
  port: number
  messages: string[]
  /** Whether connections are accepted, but nothing is read. */
  is_hanging: boolean
  waitFor(isReached: (messages: string[]) => boolean): Promise<string[]>
  close(): Promise<void>
}

/** Over TCP, or over TLS with a key and a certificate. Messages are framed by octet counting; anything else is an error. */
export async function startSyslogReceiver(options: { tls?: { key: string; cert: string }; port?: number } = {}): Promise<SyslogReceiver> {
  const messages: string[] = []
  const sockets = new Set<Socket>()
  const receiver = { is_hanging: false }
  const onConnection = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    if (receiver.is_hanging) return void socket.pause()
    let buffered = Buffer.alloc(0)
    socket.on('data', (part: Buffer) => {
      buffered = Buffer.concat([buffered, part])
      for (;;) {
        const [prefix, length] = /^(\d+) /.exec(buffered.subarray(0, 12).toString('latin1')) ?? []
        if (prefix === undefined) return
        const end = prefix.length + Number(length)
        if (buffered.length < end) return
        messages.push(buffered.subarray(prefix.length, end).toString())
        buffered = buffered.subarray(end)
      }
    })
  }
  const server: Server = options.tls
    ? createTlsServer(options.tls, onConnection).on('tlsClientError', () => {})
    : createTcpServer({ pauseOnConnect: false }, onConnection)
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(receiver, {
    port: (server.address() as AddressInfo).port,
    messages,
    waitFor: (isReached: (all: string[]) => boolean) => until(() => (isReached(messages) ? messages : undefined), { what: 'syslog messages' }),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  })
}

export async function startUdpReceiver(): Promise<Omit<SyslogReceiver, 'is_hanging'>> {
  const messages: string[] = []
  const socket = createSocket('udp4', (message) => messages.push(message.toString()))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    messages,
    waitFor: (isReached) => until(() => (isReached(messages) ? messages : undefined), { what: 'syslog messages over UDP' }),
    async close() {
      socket.close()
      await once(socket, 'close')
    },
  }
}
