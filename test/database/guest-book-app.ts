import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { packModules } from '../support/packed-modules.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import type { PlatformSettings } from '../support/platform-process.ts'

/** One platform for all suites of a file. */
export function usePlatform(runtime: PlatformSettings['runtime'], prepare: (data_dir: string) => void = () => {}): () => TestPlatform {
  let platform: TestPlatform
  beforeAll(async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
    prepare(data_dir)
    platform = await startTestPlatform({ runtime, data_dir })
  })
  afterAll(() => platform?.remove())
  return () => platform
}

const server = `
const http = require('node:http')
const net = require('node:net')
const { Pool } = require('pg')
const pool = process.env.DATABASE_URL && new Pool({ connectionString: process.env.DATABASE_URL, max: 2 })
pool?.on('error', (error) => console.log('lost', error.message))
console.log('my database is', process.env.DATABASE_URL)
const reach = (host, port) => new Promise((resolve) => {
  const socket = net.connect({ host, port, timeout: 15000 })
  socket.once('connect', () => resolve('open')).once('timeout', () => resolve('timeout')).once('error', (error) => resolve(error.code))
}).catch(String)
http.createServer(async (request, response) => {
  const url = new URL(request.url, 'http://app')
  try {
    if (url.pathname === '/url') return response.end(process.env.DATABASE_URL ?? 'none')
    if (url.pathname === '/reach') return response.end(await reach(url.searchParams.get('host'), Number(url.searchParams.get('port'))))
    if (url.pathname === '/') return response.end('guest book')
    await pool.query('CREATE TABLE IF NOT EXISTS guests (name text)')
    if (url.pathname === '/sign') await pool.query('INSERT INTO guests VALUES ($1)', [url.searchParams.get('name')])
    const { rows } = await pool.query('SELECT name FROM guests ORDER BY name')
    response.end(rows.map((row) => row.name).join(','))
  } catch (error) {
    response.statusCode = 500
    response.end(String(error))
  }
}).listen(process.env.PORT, '0.0.0.0')
process.on('SIGTERM', () => process.exit(0))
`

/** A guest book that stores its names in the database, with its dependencies included, so that nothing is downloaded. */
export const guestBookFiles = (): Record<string, string> => ({
  'package.json': JSON.stringify({ name: 'guest-book', private: true, scripts: { start: 'node server.js' } }),
  'server.js': server,
  ...packModules(['pg']),
})

/** Rows of one statement, by a connection string. */
export const queryDatabase = async (connectionString: string, sql: string) => {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows as unknown[][]
  } finally {
    await client.end()
  }
}

/** Why a statement is refused, or `done`. */
export const queryError = async (connectionString: string, sql: string) => {
  const client = new Client({ connectionString })
  try {
    await client.connect()
    await client.query(sql)
    return 'done'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await client.end().catch(() => {})
  }
}
