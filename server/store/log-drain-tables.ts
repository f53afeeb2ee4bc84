import type { Generated } from 'kysely'
import type { LogDrain } from '../contract/log-drains.ts'

export interface LogDrainTable extends Omit<LogDrainRow, 'seq'> {
  seq: Generated<number>
}

export interface LogDrainRow {
  seq: number
  id: string
  project_id: string
  kind: LogDrain['kind']
  name: string
  sealed_address: Uint8Array
  /** JSON of a list of names and values; null without headers. */
  sealed_headers: Uint8Array | null
  /** Signs HTTP requests. */
  sealed_secret: Uint8Array | null
  format: LogDrain['format']
  /** A JSON list. */
  sources: string
  environments: LogDrain['environments']
  /** The instance owner set the address, so it may be a private one. */
  is_trusted: 0 | 1
  is_enabled: 0 | 1
  /** Grows with every change. */
  revision: number
  /** When it was added or last turned on. */
  started_at: string
  created_at: string
}

/** In the file of the logs, so that a power failure loses both or none: what a drain has delivered. */
export interface DrainStateRow {
  drain_id: string
  /** The start of the drain that the positions belong to. */
  started_at: string
  delivered: number
  dropped: number
  /** Failed attempts since the last successful one. */
  failures: number
  last_success_at: string | null
  last_dropped_at: string | null
  last_error: string | null
  last_error_at: string | null
}

export interface DrainPositionRow {
  drain_id: string
  /** A log stream, or `requests`. */
  stream: string
  /** The number of the last record that was delivered or dropped. */
  record: number
  /** Dropped records of which the receiver was not told yet. */
  gap: number
}
