import { isSameSecret } from '../lib/token.ts'
import type { EdgeRequest } from './request.ts'
import { probeHeader } from './upstream/request-headers.ts'
import type { EdgeContext } from './edge-context.ts'

/** Whether the platform itself sent the request, through its own listener or with its secret. A probe does not count as a visit. */
export function isInternalProbe(edge: EdgeContext, request: EdgeRequest): boolean {
  if (edge.networkConnections.get(request.socket)?.is_probe === true) return true
  const secret = request.headers[probeHeader]
  return edge.probe_secret !== undefined && typeof secret === 'string' && isSameSecret(secret, edge.probe_secret)
}
