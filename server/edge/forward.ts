import type { Wire } from './asked.ts'
import { hostPort } from './host.ts'

/** With the platform's own secret as its value: a look of the platform (a screenshot), which does not count as a request. */
export const lookHeader = 'x-homeport-look'

/**
 * Headers that say who asked and how: ours alone. What a client sends under these names, however disguised, goes no further;
 * nor do those by which frameworks speak to themselves (`x-middleware-subrequest` skips sign-in, `x-now-route-matches` makes a
 * page for one cacheable) or that become settings in old gateways (`Proxy`).
 */
export const ours: ReadonlySet<string> = new Set([
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
  lookHeader,
])
/** By which a request says that it is of another method: not a GET, whose answer may be kept for others. */
export const overrides: ReadonlySet<string> = new Set(['x-http-method-override', 'x-http-method', 'x-method-override'])
const hop = new Set([
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
const framing = new Set(['content-length', 'transfer-encoding', 'host', 'connection', 'upgrade'])

/** Whether a request header of this name (lower case) may be passed on; `isRead`: with a GET or HEAD. */
export function passes(name: string, isRead: boolean): boolean {
  if (hop.has(name) || ours.has(name) || name.startsWith('x-forwarded') || (isRead && overrides.has(name))) return false
  if (!/[_.]/.test(name)) return true
  // `X_Forwarded_For` and `content.length` become the real name in apps that read headers as variables.
  const real = name.replace(/[_.]/g, '-')
  return !framing.has(real) && !hop.has(real) && !ours.has(real) && !real.startsWith('x-forwarded') && !(isRead && overrides.has(real))
}

/** The lines that we add, but for the request id: who asked, by which name, over what. */
export function forwardedLines(wire: Wire, host: string): string {
  const peer = wire.remoteAddress ?? ''
  const address = peer.startsWith('::ffff:') ? peer.slice(7) : peer
  const proto = isEncrypted(wire) ? 'https' : 'http'
  const node = address.includes(':') ? `"[${address}]"` : address
  return `X-Forwarded-For: ${address}\r\nX-Forwarded-Proto: ${proto}\r\nX-Forwarded-Host: ${host}\r\nX-Forwarded-Port: ${hostPort(host, proto)}\r\nForwarded: for=${node};host="${host}";proto=${proto}\r\nX-Request-Id: `
}

export const isEncrypted = (wire: Wire): boolean => wire.encrypted === true

export const isLoopback = (peer: string): boolean => peer === '::1' || peer.startsWith('127.') || peer.startsWith('::ffff:127.')
