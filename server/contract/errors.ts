/** Every error code of the contract with its HTTP status. */
export const errorStatus = {
  invalid_input: 400,
  invalid_json: 400,
  bad_request: 400,
  project_not_connected: 400,
  invalid_archive: 400,
  query_failed: 400,
  unauthorized: 401,
  payment_method_required: 402,
  plan_limit_reached: 402,
  paid_plan_required: 402,
  email_not_verified: 403,
  forbidden: 403,
  insufficient_scope: 403,
  origin_not_allowed: 403,
  runtime_not_isolated: 403,
  dev_server_not_local: 403,
  project_not_found: 404,
  deployment_not_found: 404,
  domain_not_found: 404,
  env_var_not_found: 404,
  database_not_found: 404,
  table_not_found: 404,
  query_not_found: 404,
  token_not_found: 404,
  service_not_found: 404,
  volume_not_found: 404,
  snapshot_not_found: 404,
  volume_file_not_found: 404,
  fork_not_found: 404,
  registry_not_found: 404,
  notification_target_not_found: 404,
  notification_delivery_not_found: 404,
  deploy_hook_not_found: 404,
  log_drain_not_found: 404,
  screenshot_not_found: 404,
  skipped_push_not_found: 404,
  user_not_found: 404,
  message_not_found: 404,
  request_not_found: 404,
  trace_not_found: 404,
  dump_not_found: 404,
  backup_not_found: 404,
  invitation_not_found: 404,
  remote_not_found: 404,
  node_not_found: 404,
  source_not_found: 404,
  dev_session_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  slug_taken: 409,
  file_exists: 409,
  slug_reserved: 409,
  email_taken: 409,
  owner_password_required: 409,
  database_exists: 409,
  row_changed: 409,
  too_many_queries: 409,
  restore_failed: 409,
  upgrade_unavailable: 409,
  service_not_started: 409,
  volume_in_use: 409,
  node_in_use: 409,
  volume_not_empty: 409,
  deployment_terminal: 409,
  build_in_progress: 409,
  rollback_not_allowed: 409,
  env_vars_exist: 409,
  hostname_taken: 409,
  domain_unavailable: 409,
  price_changed: 409,
  dev_session_exists: 409,
  too_many_commands: 409,
  too_many_targets: 409,
  too_many_log_drains: 409,
  transfer_not_allowed: 409,
  idempotency_conflict: 409,
  remote_exists: 409,
  remote_token_refused: 409,
  replay_not_possible: 409,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  expectation_failed: 417,
  misdirected_request: 421,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  billing_error: 500,
  decryption_failed: 500,
  cache_purge_failed: 502,
  registrar_error: 502,
  remote_unreachable: 502,
  replay_failed: 502,
  source_not_fetched: 502,
  billing_not_configured: 503,
  purchase_not_configured: 503,
  runtime_unavailable: 503,
  database_unavailable: 503,
  database_busy: 503,
  storage_full: 507,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof errorStatus

export interface ValidationIssue {
  path: string
  message: string
}

/** The JSON body of every error response. */
export interface ErrorEnvelope {
  error: ErrorCode
  message: string
  issues?: ValidationIssue[]
  request_id: string
}

/**
 * An error for the client. `message` is in the response and says what to do next; `cause` goes only to the log.
 */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly issues: ValidationIssue[] | undefined
  readonly retry_after_s: number | undefined
  /** Additional fields that the contract defines for this code. */
  readonly fields: Record<string, unknown> | undefined

  constructor(
    code: ErrorCode,
    message: string,
    details: { issues?: ValidationIssue[]; retry_after_s?: number; fields?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause })
    this.name = 'Problem'
    this.code = code
    this.issues = details.issues
    this.retry_after_s = details.retry_after_s
    this.fields = details.fields
  }

  get status(): number {
    return errorStatus[this.code]
  }
}
