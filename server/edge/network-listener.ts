import { createServer, type Socket } from 'node:net'
import type { EdgeRequest } from './request.ts'
import type { EdgeContext } from './edge-context.ts'
import { parseHostName, isLocalNetworkName } from './host-header.ts'
import { edgeLimits } from './limits.ts'

/** Opens another listener whose connections are passed to `accept`. Closing it cuts its connections. */
export async function openEdgeNetworkListener(options: {
  address: string
  port: number
  accept(socket: Socket): void
}): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    options.accept(socket)
  })
  server.maxConnections = edgeLimits.connections
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // Without `ipv6Only`, an IPv6 address might accept IPv4 too.
    server.listen({ host: options.address, port: options.port, ipv6Only: true, exclusive: true, backlog: 512 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  server.on('error', () => {})
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/**
 * The host name that a request is for. A listener that belongs to one host uses that host, whatever local name the Host header has. Browsers share
 * cookies across all ports of an address, so the dashboard's cookie is removed before the request reaches an app.
 */
export function requestHost(edge: EdgeContext, request: EdgeRequest): string {
  const host = parseHostName(request.headers.host ?? '') ?? ''
  const connection = edge.networkConnections.get(request.socket)
  if (connection === undefined) return host
  if (edge.private_cookie !== undefined && request.headers.cookie?.includes(edge.private_cookie)) removeCookie(request, edge.private_cookie)
  // A page on the internet could point its own name here (DNS rebinding) to read content of the local network. A public name must therefore be a host
  // name of the edge.
  return connection.as !== undefined && (isLocalNetworkName(host) || host.endsWith('.localhost')) ? connection.as : host
}

function removeCookie(request: EdgeRequest, name: string): void {
  const raw = request.rawHeaders
  for (let i = raw.length - 2; i >= 0; i -= 2) {
    if (raw[i]?.toLowerCase() !== 'cookie') continue
    const remaining = (raw[i + 1] ?? '').split(';').filter((pair) => pair.split('=')[0]?.trim() !== name)
    if (remaining.length === 0) raw.splice(i, 2)
    else raw[i + 1] = remaining.join(';').trim()
  }
  const remaining = request.headers.cookie?.split(';').filter((pair) => pair.split('=')[0]?.trim() !== name) ?? []
  if (remaining.length === 0) delete request.headers.cookie
  else request.headers.cookie = remaining.join(';').trim()
}
