import type { EdgeRequest } from './request.ts'
import type { EdgeContext } from './edge-context.ts'
import { parseHostName, isLocalNetworkName } from './host-header.ts'

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
