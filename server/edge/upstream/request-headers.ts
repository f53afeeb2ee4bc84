import type { Transport } from '../request.ts'
import { parseHostPort } from '../host-header.ts'

/** With the platform's own secret as its value: a look of the platform (a screenshot), which does not count as a request. */
export const probeHeader = 'x-homeport-look'

/**
 * Headers that say who asked and how: ours alone. What a client sends under these names, however disguised, goes no further;
 * nor do those by which frameworks speak to themselves (`x-middleware-subrequest` skips sign-in, `x-now-route-matches` makes a
 * page for one cacheable) or that become settings in old gateways (`Proxy`).
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
/** By which a request says that it is of another method: not a GET, whose answer may be kept for others. */
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

/** Whether a request header of this name (lower case) may be passed on; `isRead`: with a GET or HEAD. */
export function isForwardable(name: string, isSafeMethod: boolean): boolean {
  if (hopByHopHeaders.has(name) || reservedHeaders.has(name) || name.startsWith('x-forwarded') || (isSafeMethod && methodOverrideHeaders.has(name)))
    return false
  if (!/[_.]/.test(name)) return true
  // `X_Forwarded_For` and `content.length` become the real name in apps that read headers as variables.
  const normalized = name.replace(/[_.]/g, '-')
  return (
    !framingHeaders.has(normalized) &&
    !hopByHopHeaders.has(normalized) &&
    !reservedHeaders.has(normalized) &&
    !normalized.startsWith('x-forwarded') &&
    !(isSafeMethod && methodOverrideHeaders.has(normalized))
  )
}

/** The lines that we add, but for the request id: who asked, by which name, over what. */
export function forwardedHeaderLines(transport: Transport, host: string): string {
  const peer = transport.remoteAddress ?? ''
  const address = peer.startsWith('::ffff:') ? peer.slice(7) : peer
  const proto = isEncrypted(transport) ? 'https' : 'http'
  const node = address.includes(':') ? `"[${address}]"` : address
  return `X-Forwarded-For: ${address}\r\nX-Forwarded-Proto: ${proto}\r\nX-Forwarded-Host: ${host}\r\nX-Forwarded-Port: ${parseHostPort(host, proto)}\r\nForwarded: for=${node};host="${host}";proto=${proto}\r\nX-Request-Id: `
}

export const isEncrypted = (transport: Transport): boolean => transport.encrypted === true

export const isLoopback = (peer: string): boolean => peer === '::1' || peer.startsWith('127.') || peer.startsWith('::ffff:127.')
