import { describe, expect, it } from 'vitest'
import type { Database, DatabaseDump } from '../../server/contract/databases.ts'
import { dumpFilename, passwordMask, maskConnectionString, pgpassEntry, psqlCommand, readSqlFile } from '../../renderer/lib/database-format.ts'

const database = {
  db_name: 'shop_k2',
  db_user: 'shop_k2_user',
  password: 'p:a\\ss@word',
  host: '127.0.0.1',
  port: 54_321,
  connection_string: 'postgresql://shop_k2_user:p%3Aa%5Css%40word@127.0.0.1:54321/shop_k2',
  engine: 'postgresql',
  engine_version: '15.18',
  size_bytes: 7_500_000,
  created_at: '2026-11-21T08:44:09.000Z',
} satisfies Database

describe('connection strings', () => {
  it('hide the password until it is requested', () => {
    for (const line of [maskConnectionString(database), psqlCommand(database), pgpassEntry(database, passwordMask)])
      expect(line).not.toMatch(/p:a|p%3A|ss@|word/)
    expect(maskConnectionString(database)).toBe(`postgresql://shop_k2_user:${passwordMask}@127.0.0.1:54321/shop_k2`)
    expect(psqlCommand(database)).toBe('psql -h 127.0.0.1 -p 54321 -U shop_k2_user shop_k2')
  })

  it('escape the separators of .pgpass', () => {
    expect(pgpassEntry(database, database.password)).toBe(String.raw`127.0.0.1:54321:shop_k2:shop_k2_user:p\:a\\ss@word`)
  })
})

describe('an import file', () => {
  const file = (name: string, ...bytes: number[]) => new File([new Uint8Array(bytes)], name)
  const text = (name: string, content: string) => new File([content], name)

  it('is recognized by its first bytes, whatever its name', async () => {
    expect(await readSqlFile(file('dump.sql', 0x1f, 0x8b, 8, 0))).toMatchObject({ type: 'application/gzip' })
    expect(await readSqlFile(text('dump.gz', '--\n-- PostgreSQL database dump\n--'))).toMatchObject({ type: 'application/sql' })
    expect(await readSqlFile(text('a', ';'))).toMatchObject({ type: 'application/sql' })
  })

  it('is refused with what to do instead', async () => {
    expect(await readSqlFile(text('it’s.dump', 'PGDMP\u0001\u000e'))).toContain(`pg_restore -O -x -f dump.sql 'it’s.dump'`)
    expect(await readSqlFile(text("it's", 'PGDMP'))).toContain(`'it'\\''s'`)
    expect(await readSqlFile(file('dump.zip', 0x50, 0x4b, 3, 4, 9))).toContain('Extract it')
    expect(await readSqlFile(file('photo.bin', 9, 0, 1, 2))).toContain('is not an SQL file')
    expect(await readSqlFile(file('nothing.sql'))).toContain('empty')
  })
})

it('a downloaded dump is named after its project, service and minute', () => {
  const dump = { project_slug: 'harbour-shop', service: null, created_at: '2026-11-21T08:44:09.000Z' } as DatabaseDump
  expect(dumpFilename(dump)).toBe('harbour-shop-2026-11-21-0844.sql.gz')
  expect(dumpFilename({ ...dump, service: 'mariadb' })).toBe('harbour-shop-mariadb-2026-11-21-0844.sql.gz')
})
