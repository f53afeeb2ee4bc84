import { createServer, type Server, type Socket } from 'node:net'
import type { Log } from '../lib/log.ts'
import { listenOnFreePort, tryListen } from './listen.ts'

export interface EdgeListeners {
  /** Opens the listener and resolves with its port. If the port is taken, the next free one is used and `fell_back` is true. */
  listen(options: { host: string; port: number }): Promise<{ port: number; fell_back: boolean }>

  /** The same for HTTPS: HTTP/2 and HTTP/1.1 over TLS. */
  listenSecure(options: { host: string; port: number }): Promise<{ port: number; fell_back: boolean }>

  /**
   * Opens another listener, on a network address. `as`: requests that name an address or a local-network name are for this host. `is_probe`:
   * connections come from the platform itself and are not visits. `accepts`: connections from other addresses are
   * closed. Rejects if the port is taken; closing cuts its connections immediately.
   */
  listenOnNetwork(options: {
    address: string
    port: number
    as?: string
    is_probe?: boolean
    accepts?(remote: string): boolean
  }): Promise<{ port: number; close(): Promise<void> }>
}

/** How a connection arrived. */
export interface ConnectionOrigin {
  /** The number of the listener. */
  listener: number
  /** The connection begins with a TLS handshake. */
  is_secure: boolean
  /** Of a listener on a network address. */
  network: { as: string | undefined; is_probe: boolean } | null
}

/** Opens the listeners of the edge and passes their connections on. */
export function createEdgeListeners(options: {
  log: Log
  isSecure: boolean
  accept(socket: Socket, origin: ConnectionOrigin): void
  onSecurePort(port: number): void
  /** A listener on the network closed: its connections are to be cut. */
  onClose(listener: number): void
  /** The connections are passed to another process, so this one must not read from them. */
  pauseOnConnect?: boolean
  /** A listener is open that is not on a network address. Another process may accept its connections. */
  onOpen?(server: Server, origin: ConnectionOrigin): void
}): EdgeListeners & { close(): Promise<void> } {
  const servers = new Set<Server>()
  let listenerCount = 0

  const create = (origin: Omit<ConnectionOrigin, 'listener'>, accepts?: (remote: string) => boolean): { server: Server; listener: number } => {
    const listener = ++listenerCount
    const { pauseOnConnect = false } = options
    // A client may close its write half after the request. Keep-alive detects peers that vanish without closing, for streams and WebSockets too.
    const server = createServer({ pauseOnConnect, allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }, (socket) => {
      if (accepts && !accepts(socket.remoteAddress ?? '')) socket.destroy()
      else options.accept(socket, { listener, ...origin })
    })
    servers.add(server)
    return { server, listener }
  }

  const listen = async (host: string, port: number, is_secure: boolean) => {
    const origin = { is_secure, network: null }
    const { server, listener } = create(origin)
    const boundPort = await listenOnFreePort(server, host, port)
    options.onOpen?.(server, { listener, ...origin })
    // `*.localhost` may resolve to either loopback address. If IPv6 is unavailable or its port is taken, IPv4 must suffice.
    if (host === '127.0.0.1') {
      const ipv6 = create(origin)
      if ((await tryListen(ipv6.server, '::1', boundPort).catch(() => undefined)) === undefined)
        options.log.info('edge.no_ipv6_loopback', { port: boundPort })
      else options.onOpen?.(ipv6.server, { listener: ipv6.listener, ...origin })
    }
    return { port: boundPort, fell_back: port !== 0 && boundPort !== port }
  }

  return {
    listen: ({ host, port }) => listen(host, port, false),
    async listenSecure({ host, port }) {
      if (!options.isSecure) throw new Error('The edge has no certificates to show.')
      const bound = await listen(host, port, true)
      options.onSecurePort(bound.port)
      return bound
    },
    async listenOnNetwork({ address, port, as, is_probe = false, accepts }) {
      const { server, listener } = create({ is_secure: false, network: { as, is_probe } }, accepts)
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        // Without `ipv6Only`, an IPv6 address might accept IPv4 too.
        server.listen({ host: address, port, ipv6Only: true, exclusive: true, backlog: 512 }, () => {
          server.off('error', reject)
          resolve()
        })
      })
      server.on('error', () => {})
      const bound = server.address()
      return {
        port: typeof bound === 'object' && bound ? bound.port : port,
        close() {
          servers.delete(server)
          const closed = closeServer(server)
          options.onClose(listener)
          return closed
        },
      }
    },
    async close() {
      await Promise.all([...servers].map(closeServer))
    },
  }
}

const closeServer = (server: Server): Promise<void> => new Promise((resolve) => (server.listening ? server.close(() => resolve()) : resolve()))
