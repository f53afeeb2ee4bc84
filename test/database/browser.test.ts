import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DatabaseTable, PlanNode, TableRow } from '../../server/contract/database-browser.ts'
import type { Database, DatabaseDump } from '../../server/contract/databases.ts'
import { isDestructive } from '../../server/database/destructive-statement.ts'
import { newId } from '../../server/lib/id.ts'
import { readQueryRecords, type QueryResult } from '../support/query-records.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'
import { until } from '../support/until.ts'

let platform: SharedPlatform
let app: Client
let database: Database
const at = '/instance/projects/browsed/database'

beforeAll(async () => {
  platform = await sharedPlatform()
  await platform.createProject({ slug: 'browsed' })
  const created = await platform.api<{ database: Database }>('POST', '/v1/projects/browsed/database')
  expect(created.status).toBe(201)
  database = created.body.database
  app = new Client({ connectionString: database.connection_string })
  app.on('error', () => {})
  await app.connect()
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

interface QueryBody {
  sql: string
  read_only?: boolean
  snapshot?: boolean
  id?: string
  timeout_ms?: number
  max_rows?: number
}

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

interface RowsResponse {
  columns: { name: string; type: string }[]
  row_key: string[]
  rows: TableRow[]
  next_cursor: string | null
}
const rows = (queryText: Record<string, string>) =>
  platform.api<RowsResponse & { error?: string; message?: string }>('GET', `${at}/rows?${new URLSearchParams(queryText)}`)
const change = (changes: object[], preview = false) =>
  platform.api<{ statements: string[]; applied: boolean; error?: string; message?: string }>('POST', `${at}/changes`, { changes, preview })

describe('the schema', () => {
  test('has tables, views, columns, keys, indexes and sizes', async () => {
    const { status, body } = await platform.api<{ tables: DatabaseTable[] }>('GET', `${at}/schema`)
    expect(status).toBe(200)
    expect(body.tables.map(({ schema, name, kind }) => `${schema}.${name} ${kind}`)).toEqual([
      'public.adults view',
      'public.guests table',
      'public.loose table',
      'public.visits table',
      'odd "schema.ta\'ble; -- table',
    ])
    const table = (name: string) => body.tables.find((one) => one.name === name)
    expect(table('guests')?.columns).toEqual([
      { name: 'id', type: 'bigint', is_nullable: false, default: null, is_generated: true, enum_values: null },
      { name: 'name', type: 'text', is_nullable: false, default: null, is_generated: false, enum_values: null },
      { name: 'born', type: 'date', is_nullable: true, default: null, is_generated: false, enum_values: null },
      { name: 'sea', type: 'mood', is_nullable: true, default: "'calm'::mood", is_generated: false, enum_values: ['calm', 'rough'] },
      { name: 'extra', type: 'jsonb', is_nullable: true, default: null, is_generated: false, enum_values: null },
    ])
    expect(table('visits')).toMatchObject({
      primary_key: ['guest_id', 'day'],
      row_key: ['guest_id', 'day'],
      foreign_keys: [{ name: 'visits_guest_id_fkey', columns: ['guest_id'], schema: 'public', table: 'guests', target_columns: ['id'] }],
      indexes: [
        { name: 'visits_pkey', is_unique: true },
        { name: 'visits_day', is_unique: false },
      ],
      size_bytes: expect.any(Number),
    })
    expect(table('adults')).toMatchObject({ row_key: [], size_bytes: null, row_estimate: null })
  })

  test('is described without sizes while a table is locked', async () => {
    await app.query('BEGIN; LOCK TABLE guests IN ACCESS EXCLUSIVE MODE')
    const { status, body } = await platform.api<{ tables: DatabaseTable[] }>('GET', `${at}/schema`)
    await app.query('ROLLBACK')
    expect([status, body.tables.find(({ name }) => name === 'guests')?.size_bytes]).toEqual([200, null])
  })

  test('404 without a database, and for a preview that has no copy', async () => {
    await platform.createProject({ slug: 'without' })
    expect(await platform.api('GET', '/instance/projects/without/database/schema')).toMatchObject({
      status: 404,
      body: { error: 'database_not_found' },
    })
    expect(await platform.api('GET', `${at}/schema?branch=none`)).toMatchObject({ status: 404, body: { error: 'database_not_found' } })
  })
})

describe('rows', () => {
  async function readAll(queryText: Record<string, string>, between: () => Promise<unknown> = async () => {}): Promise<TableRow[]> {
    const found: TableRow[] = []
    let cursor: string | null = null
    do {
      const { status, body } = await rows({ ...queryText, ...(cursor === null ? {} : { cursor }) })
      expect(status, JSON.stringify(body)).toBe(200)
      found.push(...body.rows)
      cursor = body.next_cursor
      await between()
    } while (cursor !== null)
    return found
  }
  const names = (list: TableRow[]) => list.map(({ values }) => values[1])

  test('come in pages by their key while others write: none is repeated, none is missing', async () => {
    let written = 0
    const all = await readAll({ table: 'guests', limit: '40' }, async () => {
      // Before the rows that were read, and after the last one.
      await app.query(`DELETE FROM guests WHERE name = 'guest ${++written + 1}'`)
      await app.query(`INSERT INTO guests (name) VALUES ('late ${written}')`)
    })
    const ids = all.map(({ key }) => Number(key?.[0]))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(new Set(ids).size).toBe(ids.length)
    // Those that were deleted had been read.
    expect(names(all).filter((name) => String(name).startsWith('guest'))).toHaveLength(250)
    expect(names(all)).toContain('late 1')
  })

  test.each(['name', '-name', 'born', '-born', 'sea', '-id'])('ordered by %s each row once, nulls included', async (order) => {
    await app.query('UPDATE guests SET born = NULL WHERE id % 9 = 0')
    const all = await readAll({ table: 'guests', order, limit: '30' })
    const [column, direction] = order.startsWith('-') ? [order.slice(1), 'DESC'] : [order, 'ASC']
    const expected = await app.query<{ id: string }>(`SELECT id FROM guests ORDER BY ${column} ${direction}, id ${direction}`)
    expect(all.map(({ key }) => key?.[0])).toEqual(expected.rows.map(({ id }) => id))
  })

  test('with filters of every operator', async () => {
    const count = async (...filter: object[]) => (await readAll({ table: 'loose', filter: JSON.stringify(filter) })).length
    expect(await count({ column: 'number', op: 'eq', value: '3' })).toBe(1)
    expect(await count({ column: 'number', op: 'ne', value: '3' })).toBe(6)
    expect(await count({ column: 'number', op: 'gt', value: '3' }, { column: 'number', op: 'lte', value: '5' })).toBe(2)
    expect(await count({ column: 'word', op: 'contains', value: 'ORD 7' })).toBe(1)
    expect(await count({ column: 'word', op: 'contains', value: '%' })).toBe(0)
    expect(await count({ column: 'word', op: 'starts_with', value: 'word' })).toBe(7)
    expect(await count({ column: 'word', op: 'is_null' })).toBe(0)
    expect(await count({ column: 'word', op: 'is_not_null' })).toBe(7)
    expect(await count({ column: 'word', op: 'eq', value: "' OR true --" })).toBe(0)
  })

  test('of a table without a key, and of a view, by offset', async () => {
    const loose = await readAll({ table: 'loose', order: 'number', limit: '3' })
    expect(loose.map(({ key, values }) => [key, values[1]])).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => [null, number]))
    expect((await rows({ table: 'adults', limit: '5' })).body.rows).toHaveLength(5)
  })

  test('of names that need quotes', async () => {
    const odd = { schema: 'odd "schema', table: "ta'ble; --" }
    const { body } = await rows({ ...odd, order: '-co"l', filter: JSON.stringify([{ column: 'sel ect', op: 'eq', value: 'here' }]) })
    expect(body.rows).toEqual([{ key: ['1'], values: [1, 'here'] }])
    expect(await change([{ kind: 'update', ...odd, key: { 'co"l': 1 }, values: { 'sel ect': "it's \\ here" } }])).toMatchObject({
      status: 200,
      body: { statements: [`UPDATE "odd ""schema"."ta'ble; --" SET "sel ect" = E'it''s \\\\ here' WHERE "co""l" = 1`] },
    })
    expect((await rows(odd)).body.rows[0]?.values).toEqual([1, "it's \\ here"])
  })

  test('with large values cut, and whole on request', async () => {
    await app.query(`CREATE TABLE large (id int PRIMARY KEY, words text, bytes bytea, amount numeric, big bigint, list int[])`)
    await app.query(
      `INSERT INTO large VALUES (1, repeat('é', 5000), decode(repeat('ab', 5000), 'hex'), 12345678901234567890.5, 9007199254740993, '{1,2}')`,
    )
    const cut = (await rows({ table: 'large' })).body.rows[0]?.values
    expect(cut).toEqual([
      1,
      { text: 'é'.repeat(2000), size_bytes: 10_000 },
      { text: `\\x${'ab'.repeat(999)}`, size_bytes: 5000 },
      '12345678901234567890.5',
      '9007199254740993',
      '{1,2}',
    ])
    const whole = (await rows({ table: 'large', value_characters: '20000' })).body.rows[0]?.values
    expect(whole?.slice(1, 3)).toEqual(['é'.repeat(5000), `\\x${'ab'.repeat(5000)}`])
  })

  test('400 and 404 name what is wrong', async () => {
    const error = async (queryText: Record<string, string>) => {
      const { status, body } = await rows(queryText)
      return [status, body.error, body.message]
    }
    expect(await error({ table: 'none' })).toMatchObject([404, 'table_not_found', expect.any(String)])
    expect(await error({ table: 'guests', order: 'none' })).toEqual([400, 'invalid_input', 'The table has no column “none”.'])
    expect(await error({ table: 'guests', filter: '{' })).toMatchObject([400, 'invalid_input', expect.any(String)])
    expect(await error({ table: 'guests', filter: '[{"column":"id","op":"eq","value":"x"}]' })).toEqual([
      400,
      'query_failed',
      'invalid input syntax for type bigint: "x".',
    ])
    const { body } = await rows({ table: 'guests', limit: '1' })
    expect(await error({ table: 'visits', cursor: String(body.next_cursor) })).toEqual([400, 'invalid_input', 'The cursor is invalid.'])
    expect(await error({ table: 'guests', cursor: 'e30' })).toEqual([400, 'invalid_input', 'The cursor is invalid.'])
  })
})

describe('changes', () => {
  const guests = { schema: 'public', table: 'guests' }

  test('a preview shows the SQL and changes nothing; the same SQL is applied', async () => {
    const changes = [
      { kind: 'insert', ...guests, values: { name: "O'Neil", extra: '{"a": 1}' } },
      { kind: 'update', ...guests, key: { id: 5 }, values: { name: 'renamed', born: null }, expected: { name: 'guest 5' } },
    ]
    const preview = await change(changes, true)
    expect(preview.body).toEqual({
      applied: false,
      statements: [
        `INSERT INTO "public"."guests" ("name", "extra") VALUES ('O''Neil', '{"a": 1}')`,
        `UPDATE "public"."guests" SET "name" = 'renamed', "born" = NULL WHERE "id" = 5 AND "name" = 'guest 5'`,
      ],
    })
    const named = () => app.query("SELECT name FROM guests WHERE name IN ('O''Neil', 'renamed') ORDER BY name")
    await app.query("INSERT INTO guests (id, name) OVERRIDING SYSTEM VALUE VALUES (5, 'guest 5') ON CONFLICT DO NOTHING")
    expect((await named()).rowCount).toBe(0)
    expect((await change(changes)).body).toEqual({ ...preview.body, applied: true })
    expect((await named()).rows).toEqual([{ name: "O'Neil" }, { name: 'renamed' }])
  })

  test('409 row_changed, and nothing is changed, when a row is gone or has other values', async () => {
    const before = await app.query('SELECT count(*) FROM guests')
    const answer = await change([
      { kind: 'insert', ...guests, values: { name: 'not stored' } },
      { kind: 'delete', ...guests, key: { id: 999_999 } },
    ])
    expect([answer.status, answer.body.error]).toEqual([409, 'row_changed'])
    expect((await app.query('SELECT count(*) FROM guests')).rows).toEqual(before.rows)
    const stale = await change([{ kind: 'update', ...guests, key: { id: 6 }, values: { name: 'x' }, expected: { name: 'before' } }])
    expect([stale.status, stale.body.error]).toEqual([409, 'row_changed'])
  })

  test('a table without a key, an unknown column and a part of a key are refused; a violated constraint is named', async () => {
    const refused = async (one: object) => {
      const { status, body } = await change([one])
      return [status, body.error, body.message]
    }
    expect(await refused({ kind: 'delete', schema: 'public', table: 'loose', key: { word: 'word 1' } })).toMatchObject([
      400,
      'invalid_input',
      expect.any(String),
    ])
    expect(await refused({ kind: 'insert', ...guests, values: { none: 1 } })).toMatchObject([400, 'invalid_input', expect.any(String)])
    expect(await refused({ kind: 'delete', schema: 'public', table: 'visits', key: { guest_id: 1 } })).toMatchObject([
      400,
      'invalid_input',
      expect.any(String),
    ])
    expect(await refused({ kind: 'insert', schema: 'public', table: 'visits', values: { guest_id: -1, day: '2026-01-01' } })).toMatchObject([
      400,
      'query_failed',
      expect.stringContaining('visits_guest_id_fkey'),
    ])
  })
})

describe('statements', () => {
  test('return columns with their types, rows, and how long they took', async () => {
    const result = await query(
      "SELECT 1 AS one, 2::bigint AS big, true AS yes, NULL AS none, 'rough'::mood AS sea, '{\"a\":1}'::jsonb AS json, 1.50 AS exact",
    )
    expect(result.types).toEqual(['integer', 'bigint', 'boolean', 'text', 'mood', 'jsonb', 'numeric'])
    expect(result.rows).toEqual([[1, '2', true, null, 'rough', '{"a": 1}', '1.50']])
    expect(result.end).toEqual({ type: 'done', command: 'SELECT', row_count: 1, truncated: null, duration_ms: expect.any(Number), notices: [] })
  })

  test('100,000 rows arrive complete and in order; more are cut', async () => {
    const { rows: all, end } = await query("SELECT n, 'row ' || n FROM generate_series(1, 100001) n", { max_rows: 100_000 })
    expect(all).toHaveLength(100_000)
    expect(all.every(([n], index) => n === index + 1)).toBe(true)
    expect(end).toMatchObject({ row_count: 100_000, truncated: 'rows' })
    expect((await query('SELECT n FROM generate_series(1, 1000) n')).end).toMatchObject({ row_count: 1000, truncated: null })
  })

  test('a result that is too large is cut when it reads, and rolled back when it writes', async () => {
    const read = await query("SELECT repeat('x', 100000) FROM generate_series(1, 100000)", { max_rows: 100_000 })
    expect(read.end).toMatchObject({ type: 'done', truncated: 'bytes' })
    expect(read.rows[0]).toEqual([{ text: 'x'.repeat(10_000), size_bytes: 100_000 }])
    expect(errorOf(await query("SELECT repeat('x', 900000000)"))).toMatchObject({ code: '54000' })
    const written = await write("INSERT INTO loose SELECT repeat('x', 100000), n FROM generate_series(100, 1000) n RETURNING *", {
      max_rows: 100_000,
    })
    expect(errorOf(written)).toMatchObject({ code: '54000', detail: 'Nothing was changed.' })
    expect((await app.query('SELECT FROM loose WHERE number >= 100')).rowCount).toBe(0)
  })

  test('an error has its position, line, column and hint', async () => {
    expect(errorOf(await query('SELECT 1,\n  «é», nme\nFROM guests'))).toMatchObject({ code: '42703', line: 2, column: 3 })
    expect(errorOf(await query('SELECT nam FROM guests'))).toMatchObject({
      code: '42703',
      message: 'column "nam" does not exist',
      hint: 'Perhaps you meant to reference the column "guests.name".',
      position: 8,
    })
    expect(errorOf(await query("SELECT '😀', nam FROM guests"))).toMatchObject({ position: 14, column: 14 })
  })

  test('notices are shown', async () => {
    const { end } = await write("DO $$ BEGIN RAISE NOTICE 'ahoy'; END $$")
    expect(end).toMatchObject({ type: 'done', command: 'DO', notices: ['ahoy'] })
  })

  test('a write needs read_only: false, and is stored', async () => {
    const insert = "INSERT INTO loose VALUES ('written', 50) RETURNING number"
    expect(errorOf(await query(insert))).toMatchObject({ code: '25006' })
    const result = await write(insert)
    expect([result.rows, result.end]).toMatchObject([[[50]], { command: 'INSERT', row_count: 1 }])
    expect((await app.query("DELETE FROM loose WHERE word = 'written'")).rowCount).toBe(1)
  })

  test('a constraint that is checked at the end is an error, and nothing is stored', async () => {
    await app.query('CREATE TABLE visits_of (id int PRIMARY KEY); CREATE TABLE late (id int REFERENCES visits_of DEFERRABLE INITIALLY DEFERRED)')
    expect(errorOf(await write('INSERT INTO late VALUES (7)'))).toMatchObject({ code: '23503' })
    expect((await app.query('SELECT FROM late')).rowCount).toBe(0)
  })

  test('what cannot run in a transaction runs alone', async () => {
    expect((await write('VACUUM loose')).end).toMatchObject({ type: 'done', command: 'VACUUM' })
    expect((await write('CREATE INDEX CONCURRENTLY loose_number ON loose (number)')).end).toMatchObject({ type: 'done' })
    expect(errorOf(await query('VACUUM loose'))).toMatchObject({ code: expect.any(String) })
  })

  test('an empty statement, a comment and COPY end', async () => {
    expect((await query(' ')).end.type).toBe('done')
    expect((await query('-- nothing')).end.type).toBe('done')
    expect((await query('COPY guests TO STDOUT')).end.type).toBe('done')
    expect(errorOf(await write('COPY loose FROM STDIN'))).toMatchObject({ message: expect.stringContaining('Use psql') })
  })

  test('a timeout ends it', async () => {
    expect(errorOf(await query('SELECT pg_sleep(600)', { timeout_ms: 100 }))).toMatchObject({
      code: '57014',
      message: 'canceling statement due to statement timeout',
    })
  })

  const isRunning = async (mark: string) =>
    (await app.query("SELECT FROM pg_stat_activity WHERE query LIKE $1 AND state = 'active' AND pid <> pg_backend_pid()", [`%${mark}%`])).rowCount ===
    1
  const started = (mark: string) => until(async () => (await isRunning(mark)) || undefined, { what: 'the statement to run' })
  const ended = (mark: string) => until(async () => !(await isRunning(mark)) || undefined, { what: 'the statement to end' })

  test('a running statement is canceled by its ID, once', async () => {
    const id = newId('req')
    const running = query('SELECT pg_sleep(600) AS canceled_by_id', { id })
    await started('canceled_by_id')
    expect((await platform.api('POST', `${at}/queries/${id}/cancel`)).status).toBe(204)
    expect(errorOf(await running)).toMatchObject({ code: '57014', message: 'canceling statement due to user request' })
    expect(await platform.api('POST', `${at}/queries/${id}/cancel`)).toMatchObject({ status: 404, body: { error: 'query_not_found' } })
    expect((await send({ sql: 'SELECT 1', id })).status).toBe(409)
  })

  test('a statement ends with the client that asked for it', async () => {
    const leave = new AbortController()
    const running = send({ sql: 'SELECT pg_sleep(600) AS left_by_client' }, leave.signal)
    running.catch(() => {})
    await started('left_by_client')
    leave.abort()
    await ended('left_by_client')
  })

  test('409 too_many_queries', async () => {
    const leave = new AbortController()
    const running = Array.from({ length: 5 }, (_, n) => send({ sql: `SELECT pg_sleep(600) AS many_${n}` }, leave.signal).catch(() => undefined))
    for (let n = 0; n < 5; n++) await started(`many_${n}`)
    const refused = await send({ sql: 'SELECT 1' })
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([409, 'too_many_queries'])
    leave.abort()
    await Promise.all(running)
    await until(async () => ((await send({ sql: 'SELECT 1' })).status === 200 ? true : undefined), { what: 'a free place' })
  })
})

describe('hostile statements', () => {
  const counts = async () => (await app.query('SELECT (SELECT count(*) FROM guests) AS guests, (SELECT count(*) FROM loose) AS loose')).rows

  test.each([
    'COMMIT; DROP TABLE guests',
    'ROLLBACK; BEGIN READ WRITE; DELETE FROM loose; COMMIT',
    'SELECT 1; DELETE FROM loose',
    'DELETE FROM loose',
    'WITH gone AS (DELETE FROM loose RETURNING *) SELECT * FROM gone',
    'SET TRANSACTION READ WRITE',
    "SELECT set_config('transaction_read_only', 'off', true)",
    'DO $$ BEGIN SET TRANSACTION READ WRITE; DELETE FROM loose; END $$',
    'DO $$ BEGIN COMMIT; DELETE FROM loose; END $$',
    "DO $$ BEGIN EXECUTE 'COMMIT'; DELETE FROM loose; END $$",
    'EXPLAIN ANALYZE DELETE FROM loose',
    "SELECT nextval(pg_get_serial_sequence('guests', 'id'))",
    'CREATE TABLE mine (id int)',
    'TRUNCATE loose',
    "PREPARE TRANSACTION 'x'",
  ])('in a read-only statement fails: %s', async (sql) => {
    const before = await counts()
    expect(errorOf(await query(sql)), sql).toBeDefined()
    expect(await counts()).toEqual(before)
  })

  test.each(['COMMIT', 'ROLLBACK', 'BEGIN', 'COMMIT AND CHAIN', 'SET default_transaction_read_only = off', 'SELECT lo_create(0)'])(
    'in a read-only statement has no effect on the next one: %s',
    async (sql) => {
      await query(sql)
      expect(errorOf(await query('DELETE FROM loose'))).toMatchObject({ code: '25006' })
      expect((await app.query('SELECT FROM pg_largeobject_metadata')).rowCount).toBe(0)
    },
  )

  test.each([
    ["COPY loose TO PROGRAM 'touch /tmp/owned'", '42501'],
    ["COPY loose FROM PROGRAM 'id'", '42501'],
    ["COPY loose TO '/tmp/owned'", '42501'],
    ["COPY loose FROM '/etc/passwd'", '42501'],
    ["SELECT pg_read_file('/etc/passwd')", '42501'],
    ["SELECT pg_ls_dir('/')", '42501'],
    ["SELECT lo_import('/etc/passwd')", '42501'],
    ['SET ROLE postgres', '42704'],
    ['SET SESSION AUTHORIZATION pg_read_all_data', '42501'],
    ['SET ROLE pg_execute_server_program', '42501'],
    ['GRANT pg_read_server_files TO CURRENT_USER', '42501'],
    ['ALTER ROLE CURRENT_USER SUPERUSER', '42501'],
    ['CREATE ROLE mine SUPERUSER', '42501'],
    ['CREATE DATABASE mine', '42501'],
    ['CREATE EXTENSION dblink', '42501'],
    ['CREATE EXTENSION file_fdw', '42501'],
    ["CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/lib/x.so', 'f'", '42501'],
    ['SELECT * FROM pg_authid', '42501'],
    ['ALTER SYSTEM SET log_statement = "all"', '42501'],
    ["LOAD '/tmp/x.so'", '42501'],
  ])('the role may not: %s', async (sql, code) => {
    const error = errorOf(await write(sql))
    expect([sql, error?.code, error?.message]).toEqual([sql, expect.any(String), expect.any(String)])
    if (code !== '42704') expect(error?.code, error?.message).toBe(code)
  })

  test('several statements are refused when writing too', async () => {
    expect(errorOf(await write('SELECT 1; SELECT 2'))).toMatchObject({
      code: '42601',
      message: 'cannot insert multiple commands into a prepared statement',
    })
  })

  test('a NUL and a text that is too long are 400', async () => {
    expect((await send({ sql: "SELECT '\0'" })).status).toBe(400)
    expect((await send({ sql: `SELECT '${'x'.repeat(200_000)}'` })).status).toBe(400)
    expect((await change([{ kind: 'insert', schema: 'public', table: 'loose', values: { word: 'a\0b' } }])).status).toBe(400)
  })
})

describe('plans', () => {
  const explain = (body: object) =>
    platform.api<{ plan: PlanNode; execution_ms: number | null; error?: string; message?: string }>('POST', `${at}/explain`, body)

  test('have nodes with costs; with analyze, also times', async () => {
    const planned = await explain({ sql: 'SELECT * FROM guests JOIN visits ON guest_id = id ORDER BY day' })
    expect(planned.body).toMatchObject({ plan: { type: 'Sort', actual_ms: null, children: [{ type: expect.any(String) }] }, execution_ms: null })
    const analyzed = await explain({ sql: 'SELECT * FROM guests', analyze: true })
    expect(analyzed.body).toMatchObject({
      plan: { type: 'Seq Scan', relation: 'guests', actual_rows: expect.any(Number) },
      execution_ms: expect.any(Number),
    })
  })

  test('analyze of a statement that writes is refused, or rolled back', async () => {
    const sql = 'DELETE FROM loose'
    expect((await explain({ sql })).body).toMatchObject({ plan: { type: 'ModifyTable' } })
    expect((await explain({ sql, analyze: true })).body).toMatchObject({ error: 'query_failed' })
    expect((await explain({ sql, analyze: true, read_only: false })).status).toBe(200)
    expect((await app.query('SELECT FROM loose')).rowCount).toBe(7)
    expect((await explain({ sql: 'SELECT 1; DELETE FROM loose', read_only: false, analyze: true })).body).toMatchObject({ error: 'query_failed' })
  })
})

describe('snapshots', () => {
  const list = async () => (await platform.api<{ dumps: DatabaseDump[] }>('GET', `${at}/dumps`)).body.dumps

  test('a destructive statement takes one before, from which the data returns', async () => {
    expect((await write('SELECT 1', { snapshot: true })).snapshot).toBeNull()
    const { snapshot, end } = await write('DROP TABLE visits', { snapshot: true })
    expect(end).toMatchObject({ type: 'done', command: 'DROP' })
    expect((await list())[0]).toMatchObject({ id: snapshot, reason: 'query', name: null })
    expect((await platform.api('POST', `${at}/dumps/${snapshot}/restore`)).status).toBe(200)
    expect((await query('SELECT count(*) FROM visits')).rows).toEqual([['5']])
    app = new Client({ connectionString: database.connection_string })
    app.on('error', () => {})
    await app.connect()
  })

  test('has a name, which can be changed', async () => {
    const { status, body } = await platform.api<{ dump: DatabaseDump }>('POST', `${at}/dumps?name=before%20the%20storm`)
    expect([status, body.dump]).toEqual([201, expect.objectContaining({ name: 'before the storm', reason: 'manual' })])
    const renamed = await platform.api('PATCH', `${at}/dumps/${body.dump.id}`, { name: 'after' })
    expect(renamed).toMatchObject({ status: 200, body: { dump: { name: 'after' } } })
    expect((await list()).find(({ id }) => id === body.dump.id)?.name).toBe('after')
    expect((await platform.api('PATCH', `${at}/dumps/${body.dump.id}`, { name: null })).body).toMatchObject({ dump: { name: null } })
    expect((await platform.api('PATCH', `${at}/dumps/${body.dump.id}`, { name: ' ' })).status).toBe(400)
  })

  test('destructive words count outside of texts and comments only', () => {
    for (const sql of ['DROP TABLE a', 'with x as (delete from a returning *) select 1', 'UPDATE a SET b = 1', 'do $$ begin end $$', 'truncate a'])
      expect([sql, isDestructive(sql)]).toEqual([sql, true])
    for (const sql of ["SELECT 'drop'", 'SELECT 1 -- delete', 'SELECT "update" FROM a', 'INSERT INTO a VALUES ($$delete$$)', 'SELECT 1 /* drop */'])
      expect([sql, isDestructive(sql)]).toEqual([sql, false])
  })
})
