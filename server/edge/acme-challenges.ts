import type { EdgeResponse, RequestContext } from './response.ts'
import { createErrorResponse } from './status-pages.ts'

const challengePath = '/.well-known/acme-challenge/'

/** The responses to HTTP-01 challenges (RFC 8555 §8.3) for host names whose certificate is being ordered. */
export interface ChallengeTable {
  /** Replaces the responses of a host name, by token; none ends its order. */
  set(host: string, responses: Readonly<Record<string, string>>): void
  /**
   * Undefined unless the host name is under order and the path is one of a challenge: all other requests go to the app. While a certificate is ordered,
   * the app sees none of these paths, so that it cannot answer for the order.
   */
  respond(context: RequestContext): EdgeResponse | undefined
}

export function createChallengeTable(): ChallengeTable {
  const responsesByHost = new Map<string, ReadonlyMap<string, string>>()
  return {
    set(host, responses) {
      const entries = Object.entries(responses)
      if (entries.length === 0) responsesByHost.delete(host)
      else responsesByHost.set(host, new Map(entries))
    },
    respond(context) {
      if (responsesByHost.size === 0 || !context.target.startsWith(challengePath)) return undefined
      const responses = responsesByHost.get(context.host)
      if (!responses) return undefined
      const response = responses.get(context.target.slice(challengePath.length))
      if (response === undefined) return createErrorResponse(404, 'No certificate is being ordered with this token.', context)
      const body = Buffer.from(response)
      return { status: 200, lines: 'Content-Type: application/octet-stream\r\nCache-Control: no-store\r\n', body, length: body.length }
    },
  }
}
