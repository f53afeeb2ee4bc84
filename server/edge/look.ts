import { sameSecret } from '../lib/token.ts'
import type { Asked } from './asked.ts'
import { lookHeader } from './forward.ts'
import type { Gate } from './gate.ts'

/** Whether the platform itself asks: by its own door, or with its secret. Such a look is no visit. */
export function isLook(gate: Gate, request: Asked): boolean {
  if (gate.network.get(request.socket)?.is_look === true) return true
  const look = request.headers[lookHeader]
  return gate.look_secret !== undefined && typeof look === 'string' && sameSecret(look, gate.look_secret)
}
