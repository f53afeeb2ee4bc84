import { foundation } from './0001-foundation.ts'
import { edge } from './0002-edge.ts'
import { around } from './0003-around.ts'
import { account } from './0004-account.ts'
import { elsewhere } from './0005-elsewhere.ts'
import { listenPort } from './0006-listen-port.ts'

/** In order, never changed once released. Entry n brings the file from version n to n + 1. */
export const migrations: readonly { name: string; sql: string }[] = [
  { name: 'foundation', sql: foundation },
  { name: 'edge', sql: edge },
  { name: 'around', sql: around },
  { name: 'account', sql: account },
  { name: 'elsewhere', sql: elsewhere },
  { name: 'listen-port', sql: listenPort },
]

export const logMigrations: readonly { name: string; sql: string }[] = [
  {
    name: 'chunks',
    sql: `
CREATE TABLE chunks (
  stream TEXT NOT NULL,
  first INTEGER NOT NULL,
  records INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunks_place ON chunks (stream, first);
`,
  },
]

export const metricsMigrations: readonly { name: string; sql: string }[] = [
  {
    name: 'buckets',
    sql: `
CREATE TABLE buckets (
  project_id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  seconds INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  status_2xx INTEGER NOT NULL,
  status_3xx INTEGER NOT NULL,
  status_4xx INTEGER NOT NULL,
  status_5xx INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  cold_starts INTEGER NOT NULL,
  cache_hits INTEGER NOT NULL,
  cache_misses INTEGER NOT NULL,
  cache_bypass INTEGER NOT NULL,
  latencies BLOB NOT NULL,
  cold_latencies BLOB,
  last_cold_start_at INTEGER,
  PRIMARY KEY (project_id, ts, seconds)
) STRICT, WITHOUT ROWID;
CREATE INDEX buckets_age ON buckets (seconds, ts);
`,
  },
]
