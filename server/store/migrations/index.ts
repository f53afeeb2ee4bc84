import { foundation } from './0001-foundation.ts'
import { edge } from './0002-edge.ts'

/** In order, never changed once released. Entry n brings the file from version n to n + 1. */
export const migrations: readonly { name: string; sql: string }[] = [
  { name: 'foundation', sql: foundation },
  { name: 'edge', sql: edge },
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
