import type { Generated } from 'kysely'
import type { metricsCounters } from '../contract/metrics-ranges.ts'
import type { DrainPositionRow, DrainStateRow } from './log-drain-tables.ts'

/** The second file: log chunks, separate from the main database because they are many and may be lost in a power failure. */
export interface LogTables {
  chunks: LogChunkRow & { id: Generated<number> }
  /** FTS5: the words of the lines of a chunk, whose ID is the rowid. A chunk is indexed some time after it was written. */
  chunk_words: { rowid: number; text: string; chunk_words: string }
  drain_states: DrainStateRow
  drain_positions: DrainPositionRow
}

export interface LogChunkRow {
  /** A deployment's id (build log) or a project's id (runtime log). */
  stream: string
  /** The number of the first record in the chunk; records are numbered from 1 without gaps. */
  first: number
  records: number
  /** How many of the records are lines, and the number of the last line so far. */
  lines: number
  last_line: number
  bytes: number
  /** Records, one line of JSON each, joined by \n. */
  body: string
}

/** The third file: request metrics. It may lose its last seconds. */
export interface MetricsTables {
  buckets: MetricsRow
  usage: UsageRow
}

/** CPU and memory of one service of a project. */
export interface UsageRow {
  project_id: string
  /** Empty for the app itself, or its main service. */
  service: string
  /** From 1; 0: all replicas of the service together. */
  replica: number
  /** Start, in seconds since 1970: a multiple of `seconds`. */
  ts: number
  seconds: number
  samples: number
  /** The sum of the samples, in percent of one core. */
  cpu_sum: number
  memory_max: number
}

export interface MetricsRow extends Record<(typeof metricsCounters)[number], number> {
  project_id: string
  /** Start of the bucket, in seconds since 1970: a multiple of `seconds`. */
  ts: number
  /** Length of the bucket. Rows are merged into longer ones as they age; no request is counted twice. */
  seconds: number
  /** Encoded histograms of milliseconds. */
  latencies: Uint8Array
  cold_latencies: Uint8Array | null
  /** Milliseconds since 1970. */
  last_cold_start_at: number | null
}
