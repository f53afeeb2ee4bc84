import type { PlanName } from '../contract/instance.ts'
import type { Tx } from '../store/store.ts'

/** Who calls. Found by the gate from a token or a session cookie; a feature trusts it. */
export interface Caller {
  user_id: string
  account_id: string
  email: string
  email_verified: boolean
  /** The one whose limits hold now: a running trial counts. */
  plan: PlanName
  /** The owner of this instance: may use `file://`, settings, users. */
  is_instance_owner: boolean
  /** `session` is a person in a browser, or a script that signed in as one. */
  via: 'token' | 'session'
  /** Id of the token or session, to revoke streams with it. */
  credential_id: string
}

/** What comes with every request. */
export interface OperationContext {
  caller: Caller
  request_id: string
  /** It came from this machine itself and not over the network. */
  is_local: boolean
  /** Aborted when the client is gone. */
  signal: AbortSignal
  /** For an operation that `is_atomic`: keeps what it returns for another request with the same idempotency key, in the transaction of its work. */
  saveResponse?: ((tx: Tx, output: unknown) => void) | undefined
}
