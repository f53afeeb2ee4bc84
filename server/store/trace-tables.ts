/** The fifth file: spans that apps send. It may lose its last seconds. */
export interface TraceTables {
  projects: TraceProjectRow
  spans: SpanRow
  traces: TraceRow
}

interface TraceProjectRow {
  /** A small number in place of the ID. */
  key: number
  project_id: string
  /** The number of the last span. */
  last: number
  /** The size of the stored spans. */
  bytes: number
  /** Spans that were not stored. */
  dropped: number
}

export interface SpanRow {
  /** The key of the project times `spansPerProject`, plus the number of the span in its project. */
  seq: number
  project: number
  trace_id: string
  span_id: string
  parent_id: string | null
  name: string
  /** As in OTLP: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number
  service: string
  /** Microseconds since 1970. */
  start_us: number
  duration_us: number
  is_error: 0 | 1
  summary: string | null
  /** Status message, scope, attributes and events as JSON. */
  details: string
  /** Milliseconds since 1970. */
  received_at: number
  bytes: number
}

/** What a list shows of a trace. */
export interface TraceRow {
  /** That of its first span. */
  seq: number
  project: number
  trace_id: string
  /** The `seq` of the span that came last. */
  last_span: number
  start_us: number
  end_us: number
  spans: number
  errors: number
  /** How well the span that gave the trace its name represents it; 0 is best. */
  entry_rank: number
  entry_us: number
  name: string
  service: string
  method: string | null
  route: string | null
  status: number | null
  branch: string | null
}
