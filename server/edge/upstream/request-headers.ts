import { unmapIpv4 } from '../../lib/client-ip.ts'
import type { Transport } from '../request.ts'
import { parseHostPort } from '../host-header.ts'

/** Contains the platform's own secret on requests of the platform (screenshots), which do not count as visits. */
export const probeHeader = 'x-homeport-probe'

/**
 * Headers that describe the client and the original request, which only the edge may set. Clients cannot send them under any spelling, nor headers
 * that frameworks use internally (`x-middleware-subrequest` skips sign-in, `x-now-route-matches` makes a personal page cacheable) or that become
 * settings in old gateways (`Proxy`).
 */
export const reservedHeaders: ReadonlySet<string> = new Set([
  'forwarded',
  'x-real-ip',
  'x-request-id',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'x-original-url',
  'x-rewrite-url',
  'proxy',
  'client-ip',
  'x-host',
  'x-original-host',
  'x-http-host-override',
  'x-url-scheme',
  'front-end-https',
  'fastly-client-ip',
  'x-azure-clientip',
  'x-proxyuser-ip',
  'x-original-forwarded-for',
  'x-middleware-subrequest',
  'x-now-route-matches',
  'x-matched-path',
  'x-invoke-path',
  'x-invoke-query',
  'x-invoke-status',
  'x-invoke-error',
  'x-invoke-output',
  probeHeader,
])
/** Headers that override the method: a GET with one of them is not a GET, and its response must not be cached. */
export const methodOverrideHeaders: ReadonlySet<string> = new Set(['x-http-method-override', 'x-http-method', 'x-method-override'])
const hopByHopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
])
const framingHeaders = new Set(['content-length', 'transfer-encoding', 'host', 'connection', 'upgrade'])

/** Whether a request header (lower-case name) may be forwarded. `isSafeMethod`: the request is a GET or HEAD. */
export function isForwardable(name: string, isSafeMethod: boolean): boolean {
  if (hopByHopHeaders.has(name) || reservedHeaders.has(name) || name.startsWith('x-forwarded') || (isSafeMethod && methodOverrideHeaders.has(name)))
    return false
  if (!/[_.]/.test(name)) return true
  // Apps that read headers as variables treat `X_Forwarded_For` and `content.length` as the real names.
  const normalized = name.replace(/[_.]/g, '-')
  return (
    !framingHeaders.has(normalized) &&
    !hopByHopHeaders.has(normalized) &&
    !reservedHeaders.has(normalized) &&
    !normalized.startsWith('x-forwarded') &&
    !(isSafeMethod && methodOverrideHeaders.has(normalized))
  )
}

/** The forwarding headers that the edge adds, up to the request id: client, host and scheme. */
export function forwardedHeaderLines(transport: Transport, host: string): string {
  const address = unmapIpv4(transport.remoteAddress ?? '')
  const proto = isEncrypted(transport) ? 'https' : 'http'
  const node = address.includes(':') ? `"[${address}]"` : address
  return `X-Forwarded-For: ${address}\r\nX-Forwarded-Proto: ${proto}\r\nX-Forwarded-Host: ${host}\r\nX-Forwarded-Port: ${parseHostPort(host, proto)}\r\nForwarded: for=${node};host="${host}";proto=${proto}\r\nX-Request-Id: `
}

export const isEncrypted = (transport: Transport): boolean => transport.encrypted === true

export const isLoopback = (peer: string): boolean => peer === '::1' || peer.startsWith('127.') || peer.startsWith('::ffff:127.')
