import type { EdgeResponse, RequestContext } from './response.ts'
import type { Transport } from './request.ts'
import type { EdgeContext } from './edge-context.ts'
import { parseHostName } from './host-header.ts'
import { createErrorResponse } from './status-pages.ts'

/** The answer to a request that should have come another way: over TLS, or on a connection for its own name. */
export function checkHttpsAndServerName(edge: EdgeContext, transport: Transport, context: RequestContext): EdgeResponse | undefined {
  if (transport.encrypted === true) {
    const serverName = transport.servername
    if (typeof serverName !== 'string' || serverName === '' || parseHostName(serverName) === context.host) return undefined
    return createErrorResponse(421, 'This connection is for another name than the Host header says. Connect anew for this one.', context)
  }
  const { https } = edge
  if (https.port === 0) return undefined
  if (!https.plaintextConnections.has(transport)) {
    // What a certificate authority asks for comes in the clear; and on the network each app has a port of its own, without TLS.
    if (!https.isRedirectEnabled() || edge.networkConnections.has(transport) || context.target.startsWith('/.well-known/acme-challenge/'))
      return undefined
  }
  if (edge.router.find(context.host) === undefined) return undefined
  const authority = https.port === 443 ? context.host : `${context.host}:${https.port}`
  // Not to be kept: the setting may be taken back, and no browser would ask again.
  const lines = `Location: https://${authority}${context.target}\r\nCache-Control: no-store\r\n`
  return { status: 308, lines, body: null, length: 0 }
}

/**
 * A browser would hold every port of a local name to HTTPS from then on, the plain one of the very app included: an app
 * that says so is not passed on there.
 */
export const shouldStripHsts = (transport: Transport, host: string): boolean => transport.encrypted === true && host.endsWith('.localhost')

export const stripHsts = (transport: Transport, host: string, lines: string): string =>
  shouldStripHsts(transport, host) ? lines.replace(/^strict-transport-security:.*\r\n/gim, '') : lines
