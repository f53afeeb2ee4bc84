import type { EdgeResponse, RequestContext } from './response.ts'
import type { Transport } from './request.ts'
import type { EdgeContext } from './edge-context.ts'
import { parseHostName } from './host-header.ts'
import { createErrorResponse } from './status-pages.ts'

/** The response to a request that must use HTTPS or another connection; undefined if the request may proceed. */
export function checkHttpsAndServerName(edge: EdgeContext, transport: Transport, context: RequestContext): EdgeResponse | undefined {
  if (transport.encrypted === true) {
    const serverName = transport.servername
    if (typeof serverName !== 'string' || serverName === '' || parseHostName(serverName) === context.host) return undefined
    return createErrorResponse(421, 'The Host header does not match the name of this TLS connection. Open a new connection for this host.', context)
  }
  const { https } = edge
  if (https.port === 0) return undefined
  if (!https.plaintextConnections.has(transport)) {
    // An ACME challenge must be reachable over plain HTTP. Listeners on the network have one port per app and no TLS.
    if (!https.isRedirectEnabled() || edge.networkConnections.has(transport) || context.target.startsWith('/.well-known/acme-challenge/'))
      return undefined
  }
  // Without a project there is no certificate, or it is not known yet.
  if (!edge.router.find(context.host)?.route.project_id) return undefined
  const authority = https.port === 443 ? context.host : `${context.host}:${https.port}`
  // The redirect must not be cached, because the setting may be turned off and a browser would not ask again.
  const lines = `Location: https://${authority}${context.target}\r\nCache-Control: no-store\r\n`
  return { status: 308, lines, body: null, length: 0 }
}

/**
 * Strict-Transport-Security is removed for `.localhost` names, because a browser would apply it to every port of the name, including the app's own
 * plain HTTP port.
 */
export const shouldStripHsts = (transport: Transport, host: string): boolean => transport.encrypted === true && host.endsWith('.localhost')

export const stripHsts = (transport: Transport, host: string, lines: string): string =>
  shouldStripHsts(transport, host) ? lines.replace(/^strict-transport-security:.*\r\n/gim, '') : lines
