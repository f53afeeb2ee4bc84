import { isIP, type Socket } from 'node:net'
import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls'
import { unmapIpv4 } from '../lib/client-ip.ts'
import type { EdgeContext } from './edge-context.ts'
import { parseHostName } from './host-header.ts'
import type { Timeout } from './deadline-timer.ts'

/** The credentials of a TLS handshake. */
export interface TlsCredentials {
  /** PEM: the certificate, followed by its authority's. */
  certificate: string
  key: string
  context: SecureContext
}

/** Clients must not have certificates created at will. */
export class UnknownHostError extends Error {
  constructor() {
    super('No project has this name.')
  }
}

/** Returns the certificate of a host, created on first use. By name, or by address for a client that sends no name. */
export type GetTlsCredentials = (host: string) => Promise<TlsCredentials>

/** The first byte of a TLS record that opens a connection. */
const tlsHandshakeRecord = 22

/** Accepts connections, starts TLS, and passes them on once they are encrypted. */
export function createTlsAcceptor(
  edge: EdgeContext,
  getTlsCredentials: GetTlsCredentials,
  handlers: { http1(socket: Socket): void; http2(socket: TLSSocket): void },
): (socket: Socket) => void {
  /** One server per local address, whose certificate is used for clients that send no name. */
  const servers = new WeakMap<TlsCredentials, Server>()

  return (socket) => {
    const timeout: Timeout = { deadline: edge.deadlines.now + edge.header_timeout_ms, expire: () => void socket.destroy() }
    edge.deadlines.add(timeout)
    socket.once('close', () => edge.deadlines.delete(timeout))
    socket.on('error', noop)
    socket.once('data', (bytes) => {
      edge.deadlines.delete(timeout)
      socket.pause()
      socket.unshift(bytes)
      if (bytes[0] === tlsHandshakeRecord) void startHandshake(socket)
      else {
        // Plain HTTP to this port, for example a mistyped URL. The response redirects to HTTPS.
        edge.https.plaintextConnections.add(socket)
        socket.off('error', noop)
        handlers.http1(socket)
        socket.resume()
      }
    })
  }

  async function startHandshake(socket: Socket): Promise<void> {
    try {
      const identity = await getTlsCredentials(unmapIpv4(socket.localAddress ?? '127.0.0.1'))
      if (socket.destroyed) return
      const server = servers.get(identity) ?? createTlsServer(identity)
      servers.set(identity, server)
      server.emit('connection', socket)
    } catch (error) {
      edge.log.error('edge.certificate_failed', { error })
      socket.destroy()
    }
  }

  /** The server does not listen; connections are passed to it. */
  function createTlsServer(identity: TlsCredentials): Server {
    const server = createServer({
      cert: identity.certificate,
      key: identity.key,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: edge.header_timeout_ms,
      allowHalfOpen: true,
      SNICallback: (serverName, setContext) => void secureContextFor(serverName).then((secureContext) => setContext(null, secureContext), setContext),
    })
    server.on('secureConnection', (socket) => {
      if (socket.alpnProtocol === 'h2') handlers.http2(socket)
      else handlers.http1(socket)
    })
    // A client that does not trust the certificate, or that does not use TLS, is not an error of the edge.
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    return server
  }

  /** Rejects for a host name without a route, so that clients cannot have certificates created at will. */
  async function secureContextFor(serverName: string): Promise<SecureContext> {
    const host = parseHostName(serverName)
    // A server name is never an address (RFC 6066 §3).
    if (host === undefined || isIP(host) !== 0 || edge.router.find(host) === undefined) throw new UnknownHostError()
    try {
      return (await getTlsCredentials(host)).context
    } catch (error) {
      // Anybody can send any name.
      if (!(error instanceof UnknownHostError)) edge.log.error('edge.certificate_failed', { host, error })
      throw error
    }
  }
}

const noop = (): void => {}
