import type { Socket } from 'node:net'
import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls'
import type { Gate } from './gate.ts'
import { hostName } from './host.ts'
import type { Timed } from './sweep.ts'

/** What a handshake shows. */
export interface Identity {
  /** PEM, with its authority behind it. */
  certificate: string
  key: string
  context: SecureContext
}

/** Shows a host's certificate, made when it is first asked for. By name, or by address for a client that names none. */
export type IdentityOf = (host: string) => Promise<Identity>

/** The first byte of a TLS record that opens a connection. */
const handshake = 22

/** Takes connections in and gives them on once they are encrypted. */
export function createTlsDoor(
  gate: Gate,
  identityOf: IdentityOf,
  enter: { http1(socket: Socket): void; http2(socket: TLSSocket): void },
): (socket: Socket) => void {
  /** One for each address that clients without a name come to: its certificate is the one they get. */
  const servers = new WeakMap<Identity, Server>()

  return (socket) => {
    const timed: Timed = { deadline: gate.sweep.now + gate.head_ms, expire: () => void socket.destroy() }
    gate.sweep.add(timed)
    socket.once('close', () => gate.sweep.delete(timed))
    socket.on('error', nothing)
    socket.once('data', (bytes) => {
      gate.sweep.delete(timed)
      socket.pause()
      socket.unshift(bytes)
      if (bytes[0] === handshake) void shake(socket)
      else {
        // Plain HTTP to this port, as by a mistyped address: it is told where to go.
        gate.secure.misplaced.add(socket)
        socket.off('error', nothing)
        enter.http1(socket)
        socket.resume()
      }
    })
  }

  async function shake(socket: Socket): Promise<void> {
    try {
      const identity = await identityOf(plainAddress(socket.localAddress ?? '127.0.0.1'))
      if (socket.destroyed) return
      const server = servers.get(identity) ?? openServer(identity)
      servers.set(identity, server)
      server.emit('connection', socket)
    } catch (error) {
      gate.log.error('edge.no_certificate', { error })
      socket.destroy()
    }
  }

  /** It listens nowhere: connections are brought to it. */
  function openServer(identity: Identity): Server {
    const server = createServer({
      cert: identity.certificate,
      key: identity.key,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: gate.head_ms,
      allowHalfOpen: true,
      SNICallback: (name, answer) => void contextFor(name).then((context) => answer(null, context), answer),
    })
    server.on('secureConnection', (socket) => {
      if (socket.alpnProtocol === 'h2') enter.http2(socket)
      else enter.http1(socket)
    })
    // A client that does not trust us, or speaks something else, is no fault of ours.
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    return server
  }

  /** Rejects for a name that nothing answers to: nobody can have certificates made at will. */
  async function contextFor(name: string): Promise<SecureContext> {
    const host = hostName(name)
    if (host === undefined || gate.router.find(host) === undefined) throw new Error('No project has this name.')
    try {
      return (await identityOf(host)).context
    } catch (error) {
      gate.log.error('edge.no_certificate', { host, error })
      throw error
    }
  }
}

const nothing = (): void => {}
const plainAddress = (address: string): string => (address.startsWith('::ffff:') ? address.slice(7) : address)
