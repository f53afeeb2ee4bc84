/** The fourth file: the request log. It may lose its last seconds. */
export interface RequestTables {
  projects: RequestProjectRow
  requests: RequestRow
  captures: CaptureRow
}

interface RequestProjectRow {
  /** A small number in place of the ID, which each row and index would repeat. */
  key: number
  project_id: string
  /** The number of the last request. Numbers are never used again, even if the rows are gone. */
  last: number
  /** The size of what was captured of its requests. */
  captured_bytes: number
}

/** Headers and bodies of the request with the same number. */
export interface CaptureRow {
  seq: number
  bytes: number
  sealed_exchange: Uint8Array
}

export interface RequestRow {
  /** The key of the project times `requestsPerProject`, plus the number of the request in its project. */
  seq: number
  project: number
  id: string
  /** Milliseconds since 1970; part of the ID too. */
  time: number
  method: string
  host: string
  path: string
  query: string | null
  is_encrypted: 0 | 1
  protocol: string
  status: number
  /** The first digit of the status. */
  status_class: number
  duration_ms: number
  wake_ms: number
  queue_ms: number | null
  app_ms: number | null
  transfer_ms: number
  bytes: number
  cache: string | null
  cache_status: string | null
  deployment_id: string | null
  replica: number | null
  client_ip: string
  user_agent: string | null
  /** Null: the trace ID is that of the request ID. */
  trace_id: string | null
  failure: string | null
  skipped_before: number
}

/** Which requests of a project are captured. */
export interface RequestCaptureRow {
  project_id: string
  /** Milliseconds since 1970; 0: off. */
  until: number
  path: string | null
  method: string | null
  status: string | null
  /** JSON list of names. */
  masked_fields: string
}
