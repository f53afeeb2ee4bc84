import { describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { PlanNode } from '../../server/contract/database-browser.ts'
import type { DatabaseDump } from '../../server/contract/databases.ts'
import { isDestructive } from '../../server/database/destructive-statement.ts'
import { newId } from '../../server/lib/id.ts'
import { isFullTier } from '../support/tier.ts'
import { until } from '../support/until.ts'
import { useBrowsedDatabase } from './browsed-database.ts'

const browsed = useBrowsedDatabase()
const { at, send, query, write, errorOf, change } = browsed

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

  fullTest('a result that is too large is cut when it reads, and rolled back when it writes', async () => {
    const read = await query("SELECT repeat('x', 100000) FROM generate_series(1, 100000)", { max_rows: 100_000 })
    expect(read.end).toMatchObject({ type: 'done', truncated: 'bytes' })
    expect(read.rows[0]).toEqual([{ text: 'x'.repeat(10_000), size_bytes: 100_000 }])
    // PostgreSQL copies a value several times before it sends the first byte: the largest takes it a minute.
    expect(errorOf(await query(`SELECT repeat('x', ${isFullTier ? 900_000_000 : 40_000_000})`))).toMatchObject({ code: '54000' })
    const written = await write("INSERT INTO loose SELECT repeat('x', 100000), n FROM generate_series(100, 1000) n RETURNING *", {
      max_rows: 100_000,
    })
    expect(errorOf(written)).toMatchObject({ code: '54000', detail: 'Nothing was changed.' })
    expect((await browsed.app.query('SELECT FROM loose WHERE number >= 100')).rowCount).toBe(0)
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
    expect((await browsed.app.query("DELETE FROM loose WHERE word = 'written'")).rowCount).toBe(1)
  })

  test('a constraint that is checked at the end is an error, and nothing is stored', async () => {
    await browsed.app.query(
      'CREATE TABLE visits_of (id int PRIMARY KEY); CREATE TABLE late (id int REFERENCES visits_of DEFERRABLE INITIALLY DEFERRED)',
    )
    expect(errorOf(await write('INSERT INTO late VALUES (7)'))).toMatchObject({ code: '23503' })
    expect((await browsed.app.query('SELECT FROM late')).rowCount).toBe(0)
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
    (await browsed.app.query("SELECT FROM pg_stat_activity WHERE query LIKE $1 AND state = 'active' AND pid <> pg_backend_pid()", [`%${mark}%`]))
      .rowCount === 1
  const started = (mark: string) => until(async () => (await isRunning(mark)) || undefined, { what: 'the statement to run' })
  const ended = (mark: string) => until(async () => !(await isRunning(mark)) || undefined, { what: 'the statement to end' })

  test('a running statement is canceled by its ID, once', async () => {
    const id = newId('req')
    const running = query('SELECT pg_sleep(600) AS canceled_by_id', { id })
    await started('canceled_by_id')
    expect((await browsed.platform.api('POST', `${at}/queries/${id}/cancel`)).status).toBe(204)
    expect(errorOf(await running)).toMatchObject({ code: '57014', message: 'canceling statement due to user request' })
    expect(await browsed.platform.api('POST', `${at}/queries/${id}/cancel`)).toMatchObject({ status: 404, body: { error: 'query_not_found' } })
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
  const counts = async () => (await browsed.app.query('SELECT (SELECT count(*) FROM guests) AS guests, (SELECT count(*) FROM loose) AS loose')).rows

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
      expect((await browsed.app.query('SELECT FROM pg_largeobject_metadata')).rowCount).toBe(0)
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
    const issues = [{ path: 'sql', message: 'Remove the NUL character.' }]
    expect(await browsed.platform.api('POST', `${at}/queries`, { sql: "SELECT '\0'" })).toMatchObject({ status: 400, body: { issues } })
    expect(await browsed.platform.api('POST', `${at}/explain`, { sql: "SELECT '\0'" })).toMatchObject({ status: 400, body: { issues } })
    expect((await send({ sql: `SELECT '${'x'.repeat(200_000)}'` })).status).toBe(400)
    expect((await change([{ kind: 'insert', schema: 'public', table: 'loose', values: { word: 'a\0b' } }])).status).toBe(400)
  })
})

describe('plans', () => {
  const explain = (body: object) =>
    browsed.platform.api<{ plan: PlanNode; execution_ms: number | null; error?: string; message?: string }>('POST', `${at}/explain`, body)

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
    expect((await browsed.app.query('SELECT FROM loose')).rowCount).toBe(7)
    expect((await explain({ sql: 'SELECT 1; DELETE FROM loose', read_only: false, analyze: true })).body).toMatchObject({ error: 'query_failed' })
  })
})

describe('snapshots', () => {
  const list = async () => (await browsed.platform.api<{ dumps: DatabaseDump[] }>('GET', `${at}/dumps`)).body.dumps

  test('a destructive statement takes one before, from which the data returns', async () => {
    expect((await write('SELECT 1', { snapshot: true })).snapshot).toBeNull()
    const { snapshot, end } = await write('DROP TABLE visits', { snapshot: true })
    expect(end).toMatchObject({ type: 'done', command: 'DROP' })
    expect((await list())[0]).toMatchObject({ id: snapshot, reason: 'query', name: null })
    expect((await browsed.platform.api('POST', `${at}/dumps/${snapshot}/restore`)).status).toBe(200)
    expect((await query('SELECT count(*) FROM visits')).rows).toEqual([['5']])
    await browsed.connect()
  })

  fullTest('has a name, which can be changed', async () => {
    const { status, body } = await browsed.platform.api<{ dump: DatabaseDump }>('POST', `${at}/dumps?name=before%20the%20storm`)
    expect([status, body.dump]).toEqual([201, expect.objectContaining({ name: 'before the storm', reason: 'manual' })])
    const renamed = await browsed.platform.api('PATCH', `${at}/dumps/${body.dump.id}`, { name: 'after' })
    expect(renamed).toMatchObject({ status: 200, body: { dump: { name: 'after' } } })
    expect((await list()).find(({ id }) => id === body.dump.id)?.name).toBe('after')
    expect((await browsed.platform.api('PATCH', `${at}/dumps/${body.dump.id}`, { name: null })).body).toMatchObject({ dump: { name: null } })
    expect((await browsed.platform.api('PATCH', `${at}/dumps/${body.dump.id}`, { name: ' ' })).status).toBe(400)
  })

  test('destructive words count outside of texts and comments only', () => {
    for (const sql of ['DROP TABLE a', 'with x as (delete from a returning *) select 1', 'UPDATE a SET b = 1', 'do $$ begin end $$', 'truncate a'])
      expect([sql, isDestructive(sql)]).toEqual([sql, true])
    for (const sql of ["SELECT 'drop'", 'SELECT 1 -- delete', 'SELECT "update" FROM a', 'INSERT INTO a VALUES ($$delete$$)', 'SELECT 1 /* drop */'])
      expect([sql, isDestructive(sql)]).toEqual([sql, false])
  })
})
