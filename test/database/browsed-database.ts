import { Client } from 'pg'
import { afterAll, beforeAll, expect } from 'vitest'
import type { TableRow } from '../../server/contract/database-browser.ts'
import type { Database } from '../../server/contract/databases.ts'
import { readQueryRecords, type QueryResult } from '../support/query-records.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

interface QueryBody {
  sql: string
  read_only?: boolean
  snapshot?: boolean
  id?: string
  timeout_ms?: number
  max_rows?: number
}

interface RowsResponse {
  columns: { name: string; type: string }[]
  row_key: string[]
  rows: TableRow[]
  next_cursor: string | null
}
/** A project with a database of tables and rows, created before the tests of a file, and what the browser does with it. */
export function useBrowsedDatabase() {
  let platform: SharedPlatform
  let app: Client
  let database: Database
  const at = '/instance/projects/browsed/database'

  /** Opens the connection of the app; a restore ends it. */
  const connect = async (): Promise<void> => {
    app = new Client({ connectionString: database.connection_string })
    app.on('error', () => {})
    await app.connect()
  }

  beforeAll(async () => {
    platform = await sharedPlatform()
    await platform.createProject({ slug: 'browsed' })
    const created = await platform.api<{ database: Database }>('POST', '/v1/projects/browsed/database')
    expect(created.status).toBe(201)
    database = created.body.database
    await connect()
    await app.query(`
      CREATE TYPE mood AS ENUM ('calm', 'rough');
      CREATE TABLE guests (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text NOT NULL, born date, sea mood DEFAULT 'calm', extra jsonb);
      CREATE TABLE visits (guest_id bigint NOT NULL REFERENCES guests, day date NOT NULL, note text, PRIMARY KEY (guest_id, day));
      CREATE INDEX visits_day ON visits (day);
      CREATE TABLE loose (word text, number int);
      CREATE VIEW adults AS SELECT id, name FROM guests WHERE born < '2008-01-01';
      CREATE SCHEMA "odd ""schema";
      CREATE TABLE "odd ""schema"."ta'ble; --" ("co""l" int PRIMARY KEY, "sel ect" text);
      INSERT INTO guests (name, born) SELECT 'guest ' || n, '2000-01-01'::date + n FROM generate_series(1, 250) n;
      INSERT INTO visits SELECT 1, '2026-01-01'::date + n FROM generate_series(1, 5) n;
      INSERT INTO loose SELECT 'word ' || n, n FROM generate_series(1, 7) n;
      INSERT INTO "odd ""schema"."ta'ble; --" VALUES (1, 'here');
    `)
  }, 120_000)
  afterAll(async () => {
    await app?.end()
    await platform.remove()
  })

  const send = (body: QueryBody, signal: AbortSignal | null = null) =>
    fetch(`${platform.handle.api_url}${at}/queries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })

  async function query(sql: string, more: Partial<QueryBody> = {}): Promise<QueryResult> {
    const response = await send({ sql, ...more })
    const text = await response.text()
    expect([response.status, response.headers.get('content-type')], text).toEqual([200, 'application/x-ndjson'])
    return readQueryRecords(text)
  }
  const write = (sql: string, more: Partial<QueryBody> = {}) => query(sql, { read_only: false, snapshot: false, ...more })
  const errorOf = ({ end }: QueryResult) => (end.type === 'error' ? end.error : undefined)

  const rows = (queryText: Record<string, string>) =>
    platform.api<RowsResponse & { error?: string; message?: string }>('GET', `${at}/rows?${new URLSearchParams(queryText)}`)
  const change = (changes: object[], preview = false) =>
    platform.api<{ statements: string[]; applied: boolean; error?: string; message?: string }>('POST', `${at}/changes`, { changes, preview })

  return {
    at,
    connect,
    send,
    query,
    write,
    errorOf,
    rows,
    change,
    get platform() {
      return platform
    },
    get app() {
      return app
    },
    get database() {
      return database
    },
  }
}
