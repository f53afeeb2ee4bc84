import type { Handlers } from '../contract/index.ts'
import type { PlanName } from '../contract/instance.ts'
import type { TokenScope } from '../contract/token-scopes.ts'
import type { DomainView } from '../store/domains.ts'
import type { Tx } from '../store/store.ts'
import type { DatabaseDumpRow } from '../store/database-tables.ts'
import type { EnvVarRow } from '../store/env-var-tables.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'

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
  /** Limits of a token; null for none. */
  scope: TokenScope | null
  project_id: string | null
}

/** The context of a request. */
export interface OperationContext {
  caller: Caller
  request_id: string
  /** Whether the request comes from this machine. */
  is_local: boolean
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** For `is_atomic` operations, in the transaction of the work: stores the response for replays with the same idempotency key, and records the change. */
  saveResponse?: ((tx: Tx, output: unknown) => void) | undefined
}

/** What the context of an operation has in addition, by the `resource` of the operation. */
export interface Resources {
  project: { project: ProjectRow }
  deployment: { project: ProjectRow; deployment: DeploymentRow }
  env_var: { project: ProjectRow; env_var: EnvVarRow }
  database_dump: { project: ProjectRow; dump: DatabaseDumpRow }
  domain: { domain: DomainView }
}

/** Every handler by operation ID. */
export type OperationHandlers = Handlers<OperationContext, Resources>
