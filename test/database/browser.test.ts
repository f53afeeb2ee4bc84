import { describe, expect, test } from 'vitest'
import type { DatabaseTable, TableRow } from '../../server/contract/database-browser.ts'
import { useBrowsedDatabase } from './browsed-database.ts'
import { fullTest } from '../support/full-test.ts'
import { until } from '../support/until.ts'

const browsed = useBrowsedDatabase()
const { at, rows, change } = browsed

describe('the schema', () => {
  test('has tables, views, columns, keys, indexes and sizes', async () => {
    const { status, body } = await browsed.platform.api<{ tables: DatabaseTable[] }>('GET', `${at}/schema`)
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

  fullTest('is described without sizes while a table is locked', async () => {
    await browsed.app.query('BEGIN; LOCK TABLE guests IN ACCESS EXCLUSIVE MODE')
    const { status, body } = await browsed.platform.api<{ tables: DatabaseTable[] }>('GET', `${at}/schema`)
    await browsed.app.query('ROLLBACK')
    expect([status, body.tables.find(({ name }) => name === 'guests')?.size_bytes]).toEqual([200, null])
  })

  test('503 when the connection to the server is lost meanwhile', async () => {
    await browsed.app.query('BEGIN; LOCK TABLE loose IN ACCESS EXCLUSIVE MODE')
    const response = browsed.platform.api('GET', `${at}/rows?schema=public&table=loose`)
    const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'homeport' AND wait_event_type = 'Lock'`
    const terminateWaiting = async () => {
      // In a transaction the server shows the activity of its first look.
      await browsed.app.query('SELECT pg_stat_clear_snapshot()')
      return (await browsed.app.query(terminate)).rowCount || undefined
    }
    await until(terminateWaiting, { what: 'the reader that waits for the lock' })
    await browsed.app.query('ROLLBACK')
    expect(await response).toMatchObject({ status: 503, body: { error: 'database_unavailable' } })
  })

  test('404 without a database, and for a preview that has no copy', async () => {
    await browsed.platform.createProject({ slug: 'without' })
    expect(await browsed.platform.api('GET', '/instance/projects/without/database/schema')).toMatchObject({
      status: 404,
      body: { error: 'database_not_found' },
    })
    expect(await browsed.platform.api('GET', `${at}/schema?branch=none`)).toMatchObject({ status: 404, body: { error: 'database_not_found' } })
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
      await browsed.app.query(`DELETE FROM guests WHERE name = 'guest ${++written + 1}'`)
      await browsed.app.query(`INSERT INTO guests (name) VALUES ('late ${written}')`)
    })
    const ids = all.map(({ key }) => Number(key?.[0]))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(new Set(ids).size).toBe(ids.length)
    // Those that were deleted had been read.
    expect(names(all).filter((name) => String(name).startsWith('guest'))).toHaveLength(250)
    expect(names(all)).toContain('late 1')
  })

  test.each(['name', '-name', 'born', '-born', 'sea', '-id'])('ordered by %s each row once, nulls included', async (order) => {
    await browsed.app.query('UPDATE guests SET born = NULL WHERE id % 9 = 0')
    const all = await readAll({ table: 'guests', order, limit: '30' })
    const [column, direction] = order.startsWith('-') ? [order.slice(1), 'DESC'] : [order, 'ASC']
    const expected = await browsed.app.query<{ id: string }>(`SELECT id FROM guests ORDER BY ${column} ${direction}, id ${direction}`)
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
    await browsed.app.query(`CREATE TABLE large (id int PRIMARY KEY, words text, bytes bytea, amount numeric, big bigint, list int[])`)
    await browsed.app.query(
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
    expect(await error({ table: 'guests\0' })).toMatchObject([404, 'table_not_found', expect.any(String)])
    expect(await error({ table: 'guests', schema: 'public\0' })).toMatchObject([404, 'table_not_found', expect.any(String)])
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
    const named = () => browsed.app.query("SELECT name FROM guests WHERE name IN ('O''Neil', 'renamed') ORDER BY name")
    await browsed.app.query("INSERT INTO guests (id, name) OVERRIDING SYSTEM VALUE VALUES (5, 'guest 5') ON CONFLICT DO NOTHING")
    expect((await named()).rowCount).toBe(0)
    expect((await change(changes)).body).toEqual({ ...preview.body, applied: true })
    expect((await named()).rows).toEqual([{ name: "O'Neil" }, { name: 'renamed' }])
  })

  test('409 row_changed, and nothing is changed, when a row is gone or has other values', async () => {
    const before = await browsed.app.query('SELECT count(*) FROM guests')
    const answer = await change([
      { kind: 'insert', ...guests, values: { name: 'not stored' } },
      { kind: 'delete', ...guests, key: { id: 999_999 } },
    ])
    expect([answer.status, answer.body.error]).toEqual([409, 'row_changed'])
    expect((await browsed.app.query('SELECT count(*) FROM guests')).rows).toEqual(before.rows)
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
