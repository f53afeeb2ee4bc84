import type { PlanName } from '../contract/instance.ts'
import type { Tx } from '../store/store.ts'

/** The authenticated caller, as determined by the API server. */
export interface Caller {
  user_id: string
  account_id: string
  email: string
  email_verified: boolean
  /** The effective plan: a running trial counts. */
  plan: PlanName
  /** The owner of this instance can use `file://`, settings and users. */
  is_instance_owner: boolean
  /** `session`: a browser, or a script that signed in. */
  via: 'token' | 'session'
  /** ID of the token or session. Open streams end when it is revoked. */
  credential_id: string
}

/** The context of a request. */
export interface OperationContext {
  caller: Caller
  request_id: string
  /** Whether the request comes from this machine. */
  is_local: boolean
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** For `is_atomic` operations: stores the response for replays with the same idempotency key, in the transaction of the work. */
  saveResponse?: ((tx: Tx, output: unknown) => void) | undefined
}
