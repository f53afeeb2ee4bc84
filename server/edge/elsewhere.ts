import type { Answer, Visit } from './answer.ts'
import type { Wire } from './asked.ts'
import type { Gate } from './gate.ts'
import { hostName } from './host.ts'
import { refusalAnswer } from './pages.ts'

/** What the gate knows of HTTPS. */
export interface Secure {
  /** Of its listener; 0 as long as there is none. */
  port: number
  /** Whether plain HTTP is sent on to it. */
  always(): boolean
  /** Connections of plain HTTP that came to its port. */
  misplaced: WeakSet<Wire>
}

/** The answer to a request that should have come another way: over TLS, or on a connection for its own name. */
export function elsewhere(gate: Gate, wire: Wire, visit: Visit): Answer | undefined {
  if (wire.encrypted === true) {
    const asked = wire.servername
    if (typeof asked !== 'string' || asked === '' || hostName(asked) === visit.host) return undefined
    return refusalAnswer(421, 'This connection is for another name than the Host header says. Connect anew for this one.', visit)
  }
  const { secure } = gate
  if (secure.port === 0) return undefined
  if (!secure.misplaced.has(wire)) {
    // What a certificate authority asks for comes in the clear; and on the network each app has a port of its own, without TLS.
    if (!secure.always() || gate.network.has(wire) || visit.target.startsWith('/.well-known/acme-challenge/')) return undefined
  }
  if (gate.router.find(visit.host) === undefined) return undefined
  const place = secure.port === 443 ? visit.host : `${visit.host}:${secure.port}`
  // Not to be kept: the setting may be taken back, and no browser would ask again.
  const lines = `Location: https://${place}${visit.target}\r\nCache-Control: no-store\r\n`
  return { status: 308, lines, body: null, length: 0 }
}

/**
 * A browser would hold every port of a local name to HTTPS from then on, the plain one of the very app included: an app
 * that says so is not passed on there.
 */
export const hidesHsts = (wire: Wire, host: string): boolean => wire.encrypted === true && host.endsWith('.localhost')

export const withoutHsts = (wire: Wire, host: string, lines: string): string =>
  hidesHsts(wire, host) ? lines.replace(/^strict-transport-security:.*\r\n/gim, '') : lines
