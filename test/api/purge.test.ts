import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EdgeCache } from '../../server/edge/edge.ts'
import { createCachePurger, createPurgeTokenLookup, recordCacheEvent } from '../../server/features/cache-purge.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { hashSecret, isToken, newToken } from '../../server/lib/token.ts'
import { listCacheEvents } from '../../server/store/cache-events.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { insertUserWithAccount } from '../../server/store/users.ts'
import { insertProject } from '../../server/store/projects.ts'
import { replacePurgeToken } from '../../server/store/purge-tokens.ts'
import { projectRow } from '../support/database-rows.ts'

/* What a purge logs, and what it does when the cache fails, on a real store and a fake cache. */

let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-purge-'))
  store = await openStore({ data_dir: folder, after_crash: false })
  await store.db.write((tx) => {
    const created_at = '2026-01-31T12:00:00.000Z'
    insertUserWithAccount(tx, {
      account: { id: 'acc_1', plan: 'pro', has_payment_method: 0, created_at },
      user: { id: 'usr_1', account_id: 'acc_1', email: 'a@example.com', email_verified: 1, is_instance_owner: 1, created_at },
    })
    for (const slug of ['blog', 'shop']) insertProject(tx, projectRow({ id: `prj_${slug}`, account_id: 'acc_1', slug, name: slug }))
    tx.statement(`INSERT INTO domains (id, account_id, project_id, hostname, status, verified_at, created_at) VALUES
         ('dom_1', 'acc_1', 'prj_blog', 'blog.example.com', 'verified', ?, ?), ('dom_2', 'acc_1', 'prj_blog', 'pending.example.com', 'pending', NULL, ?)`).run(
      created_at,
      created_at,
      created_at,
    )
  })
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const events = () => store.db.read((tx) => listCacheEvents(tx, { project_id: 'prj_blog', before: undefined, limit: 2000 }))

function purgeOver(purge: EdgeCache['purge']) {
  return createCachePurger({ db: store.db, cache: { purge }, clock: systemClock, apps_domain: null })
}

describe('a purge', () => {
  test('is 502 cache_purge_failed when the cache fails, and is not logged as done', async () => {
    const purge = purgeOver(() => Promise.reject(new Error('ENOSPC: no space left')))
    await expect(purge('prj_blog', { all: true }, 'api')).rejects.toMatchObject({ code: 'cache_purge_failed', status: 502 })
    await expect(purge('prj_blog', { all: true }, 'api')).rejects.not.toThrow(/ENOSPC/)
    expect(await events()).toEqual([])
  })

  test('passes normalized URLs to the edge, and logs them as written', async () => {
    const calls: unknown[] = []
    const purge = purgeOver(async (...what) => calls.push(what))
    const urls = ['/a/../b?c=%2F#d', 'https://BLOG.example.com:8443', 'http://blog.localhost?q', 'http://blog.localhost/ü?ä b', ' /trimmed ', '//two']
    await purge('prj_blog', { urls }, 'webhook')
    expect(calls).toEqual([
      [
        'prj_blog',
        {
          urls: [
            '/a/../b?c=%2F',
            'http://blog.example.com/',
            'http://blog.localhost/?q',
            'http://blog.localhost/%C3%BC?%C3%A4%20b',
            '/trimmed',
            '//two',
          ],
        },
      ],
    ])
    expect((await events()).map((row) => JSON.parse(row.urls) as unknown)).toEqual([urls])
  })

  test('refuses unverified hostnames and those of other projects', async () => {
    const purge = purgeOver(async () => 1)
    const purging = purge('prj_blog', { urls: ['http://pending.example.com/', 'http://shop.localhost/', '/fine'] }, 'api')
    await expect(purging).rejects.toMatchObject({ code: 'invalid_input', issues: [{ path: 'urls.0' }, { path: 'urls.1' }] })
  })

  test('leaves no row when the project is deleted meanwhile', async () => {
    const purge = purgeOver(async () => {
      await store.db.write((tx) => tx.statement("UPDATE projects SET deleted_at = 'now' WHERE id = 'prj_blog'").run())
      return 3
    })
    expect(await purge('prj_blog', { all: true }, 'api')).toBe(3)
    expect(await events()).toEqual([])
  })
})

test('the log keeps the newest 1000 entries per project, and the first URLs of a long list', async () => {
  const note = { kind: 'purge_tags' as const, urls: [], purged: 0, source: 'api' as const, now: 0 }
  await store.db.write((tx) => {
    recordCacheEvent(tx, { ...note, project_id: 'prj_shop', tags: ['other'] })
    for (let i = 0; i < 1010; i++) recordCacheEvent(tx, { ...note, project_id: 'prj_blog', tags: [String(i)] })
  })
  const rows = await events()
  expect([rows.length, rows[0]?.tags, rows.at(-1)?.tags]).toEqual([1000, '["1009"]', '["10"]'])
  expect(await store.db.read((tx) => listCacheEvents(tx, { project_id: 'prj_shop', before: undefined, limit: 10 }))).toHaveLength(1)

  const urls = Array.from({ length: 100 }, (_, i) => `/${i}`.padEnd(4096, 'x'))
  await store.db.write((tx) => recordCacheEvent(tx, { ...note, project_id: 'prj_blog', kind: 'purge_urls', tags: [], urls }))
  expect(JSON.parse((await events())[0]?.urls ?? '')).toEqual(urls.slice(0, 8))
})

describe('a purge token', () => {
  test('authorizes its own project, until it is replaced', async () => {
    const projectOf = createPurgeTokenLookup(store.db)
    const [old, fresh] = [newToken('hpp'), newToken('hpp')]
    const put = (token: string) =>
      store.db.write((tx) => replacePurgeToken(tx, { project_id: 'prj_blog', hash: hashSecret(token), created_at: '2026-01-31T12:00:00.000Z' }))
    await put(old)
    expect(await Promise.all([projectOf('blog', old), projectOf('shop', old), projectOf('nobody', old), projectOf('blog', '')])).toEqual([
      'prj_blog',
      undefined,
      undefined,
      undefined,
    ])
    await put(fresh)
    expect([await projectOf('blog', old), await projectOf('blog', fresh)]).toEqual([undefined, 'prj_blog'])
    await store.db.write((tx) => tx.statement("UPDATE projects SET deleted_at = 'now' WHERE id = 'prj_blog'").run())
    expect(await projectOf('blog', fresh)).toBeUndefined()
  })

  test('has a distinct format', () => {
    const token = newToken('hpp')
    expect([isToken(token, 'hpp'), isToken(token), isToken(newToken(), 'hpp')]).toEqual([true, false, false])
  })
})
