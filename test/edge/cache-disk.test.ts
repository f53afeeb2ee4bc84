import { spawn } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { createCacheFolder, countingHandler, projectId, startCachedEdge, type CachedEdge } from '../support/cached-edge.ts'
import { get } from '../support/edge.ts'
import { until } from '../support/until.ts'
import { isFullTier } from '../support/tier.ts'

const hour = { 'cache-control': 'max-age=3600' }
/** Checks each file of the project; a file that disappears meanwhile is skipped. */
const filesOf = <T>(directory: string, look: (path: string) => T): T[] =>
  readdirSync(join(directory, projectId)).flatMap((name) => {
    try {
      return [look(join(directory, projectId, name))]
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
      throw error
    }
  })
const lines = (directory: string): string => filesOf(directory, (path) => (path.endsWith('.index') ? readFileSync(path, 'utf8') : '')).join('')
/** Waits until this number of responses is on disk. */
const written = (directory: string, count: number): Promise<true> =>
  until(() => lines(directory).split('"offset"').length > count || undefined, { what: `${count} answers on disk` })

/** Another edge on the same folder, with the same routes, after the first has closed. */
async function again(before: CachedEdge, directory: string, options: Parameters<typeof startCachedEdge>[0] = {}): Promise<CachedEdge> {
  await before.edge.close()
  const after = await startCachedEdge({ ...options, directory })
  // The index is read in the background; an earlier lookup just misses.
  await after.edge.edge.cache.purge(projectId, { tags: ['none-bears-it'] })
  return after
}

describe('the cache on disk', () => {
  test('survives a restart, with all metadata of a response', async () => {
    const directory = createCacheFolder()
    const first = await startCachedEdge({ directory })
    first.app = (request, response) =>
      response
        .writeHead(200, { ...hour, vary: 'accept', 'cache-tag': 'red', etag: '"a"', 'content-type': 'text/plain' })
        .end(`${request.headers.accept} `.repeat(1000))
    await first.request('/', { accept: 'a/b' })
    await first.request('/', { accept: 'c/d' })
    await written(directory, 2)
    const second = await again(first, directory)
    second.advanceSeconds(100)
    for (const accept of ['a/b', 'c/d']) {
      const got = await second.request('/', { accept })
      expect(got.text).toBe(`${accept} `.repeat(1000))
      expect(got.headers).toMatchObject({ 'x-cache': 'HIT', etag: '"a"', 'content-type': 'text/plain' })
      expect(Number(got.headers.age)).toBeGreaterThanOrEqual(99)
    }
    expect((await second.request('/', { accept: 'a/b', 'if-none-match': '"a"' })).status).toBe(304)
    expect(second.requests).toEqual([])
    expect(await second.edge.edge.cache.purge(projectId, { tags: ['red'] })).toBe(2)
  })

  test.each<[string, (cached: CachedEdge) => Promise<unknown>, string[]]>([
    ['a tag', (cached) => cached.edge.edge.cache.purge(projectId, { tags: ['red'] }), ['/red']],
    ['an address', (cached) => cached.edge.edge.cache.purge(projectId, { urls: ['/red'] }), ['/red']],
    ['all', (cached) => cached.edge.edge.cache.purge(projectId, { all: true }), ['/red', '/blue']],
    ['a change', (cached) => cached.request('/red', {}, 'POST'), ['/red']],
    ['a response that is not stored in its place', (cached) => cached.request('/red', { 'cache-control': 'no-cache' }), ['/red']],
  ])('a purge survives a restart: %s', async (_name, purge, gone) => {
    const directory = createCacheFolder()
    const first = await startCachedEdge({ directory })
    let count = 0
    first.app = (request, response) => {
      const is_new = request.headers['cache-control'] === 'no-cache'
      response
        .writeHead(200, { 'cache-control': is_new ? 'no-store' : 'max-age=3600', 'cache-tag': String(request.url).slice(1) })
        .end(String(++count))
    }
    await first.request('/red')
    await first.request('/blue')
    await written(directory, 2)
    await purge(first)
    const second = await again(first, directory)
    second.app = countingHandler(hour)
    for (const path of ['/red', '/blue']) expect((await second.request(path)).headers['x-cache']).toBe(gone.includes(path) ? 'MISS' : 'HIT')
  })

  test('a purge discards responses that waited to be written', async () => {
    const directory = createCacheFolder()
    const first = await startCachedEdge({ directory })
    first.app = (_request, response) => response.writeHead(200, hour).end('x'.repeat(20_000))
    const count = isFullTier ? 1500 : 500
    for (let at = 0; at < count; at += 100) await Promise.all(Array.from({ length: 100 }, (_, i) => first.request(`/${at + i}`)))
    expect(await first.edge.edge.cache.purge(projectId, { all: true })).toBe(count)
    expect(first.edge.edge.cache.stats(projectId)).toEqual({ objects: 0, bytes: 0 })
    await first.request('/after')
    await written(directory, 1)
    expect((await again(first, directory)).edge.edge.cache.stats(projectId).objects).toBe(1)
  })

  test('a purge during loading is not undone by it', async () => {
    const directory = createCacheFolder()
    const first = await startCachedEdge({ directory })
    first.app = countingHandler(hour)
    await first.request('/page')
    for (let at = 0; at < 1000; at += 100) await Promise.all(Array.from({ length: 100 }, (_, i) => first.request(`/${at + i}`)))
    await written(directory, 1001)
    await first.edge.close()
    const second = await startCachedEdge({ directory })
    await second.request('/page', {}, 'POST')
    await second.edge.edge.cache.purge(projectId, { tags: ['none-bears-it'] })
    expect(second.edge.edge.cache.stats(projectId).objects).toBe(1000)
    const third = await again(second, directory)
    expect(third.edge.edge.cache.stats(projectId).objects).toBe(1000)
  })

  test('memory holds what fits, the disk the rest', async () => {
    const directory = createCacheFolder()
    const cached = await startCachedEdge({ directory, memory_bytes: 100_000 })
    cached.app = (request, response) => response.writeHead(200, hour).end(`${request.url} `.repeat(2000))
    const names = Array.from({ length: 40 }, (_, i) => `/${i}`)
    for (const path of names) await cached.request(path)
    await written(directory, 40)
    expect(cached.edge.edge.cache.stats(projectId).objects).toBeGreaterThan(30)
    for (let round = 0; round < 2; round++)
      for (const path of names) {
        const got = await cached.request(path)
        expect(got.text).toBe(`${path} `.repeat(2000))
        if (got.headers['x-cache'] === 'HIT') expect(got.headers['cache-status']).toBe('Homeport; hit')
      }
    // Responses evicted from memory before they were written are requested once more; all others come from the two tiers.
    expect(cached.requests.length).toBeLessThan(60)
  })

  test('the folder stays within its limits, and the oldest entries are evicted', async () => {
    const directory = createCacheFolder()
    const cached = await startCachedEdge({ directory, disk_bytes: 2 ** 20 })
    cached.app = (request, response) => response.writeHead(200, hour).end(String(request.url).padEnd(20_000))
    for (let i = 0; i < 200; i++) await cached.request(`/${i}`)
    await until(() => lines(directory).includes('/199') || undefined, { what: 'the last answer on disk' })
    // No more writes; evicted responses are removed from the disk in the background.
    const bytes = () => filesOf(directory, (path) => statSync(path).size).reduce((sum, size) => sum + size, 0)
    await until(() => bytes() < 1.2 * 2 ** 20 || undefined, { what: 'the folder to shrink' })
    const after = await again(cached, directory)
    after.app = countingHandler(hour)
    expect((await after.request('/199')).headers['x-cache']).toBe('HIT')
    expect((await after.request('/0')).headers['x-cache']).toBe('MISS')
  })

  test('damaged files are not served', async () => {
    const directory = createCacheFolder()
    const first = await startCachedEdge({ directory })
    first.app = countingHandler(hour)
    await first.request('/a')
    await first.request('/b')
    await written(directory, 2)
    await first.edge.close()
    const files = readdirSync(join(directory, projectId)).map((name) => join(directory, projectId, name))
    const data = files.find((name) => name.endsWith('.data')) ?? ''
    const bytes = readFileSync(data)
    bytes[bytes.length - 1] = 255
    writeFileSync(data, bytes)
    // A crash in the middle of a line.
    appendFileSync(files.find((name) => name.endsWith('.index')) ?? '', '{"origin":"http://app.localhost","target":"/c","vari')
    const second = await again(first, directory)
    second.app = countingHandler(hour)
    expect((await second.request('/a')).headers['x-cache']).toBe('HIT')
    expect((await second.request('/b')).headers['x-cache']).toBe('MISS')
    expect((await second.request('/c')).headers['x-cache']).toBe('MISS')
  })

  test('a deleted project leaves nothing', async () => {
    const directory = createCacheFolder()
    const cached = await startCachedEdge({ directory })
    cached.app = countingHandler(hour)
    await cached.request('/')
    await written(directory, 1)
    await cached.edge.edge.cache.removeProject(projectId)
    expect(readdirSync(directory, { recursive: true }).filter((name) => String(name).includes('.data'))).toEqual([])
  })

  fullTest(
    'after kill -9 during a write only complete responses are served',
    async () => {
      const directory = createCacheFolder()
      for (let round = 0; round < 3; round++) {
        const child = spawn(process.execPath, [fileURLToPath(new URL('../support/cache-process.ts', import.meta.url)), directory], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        const port = await new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(String(text)))))
        const ended = new Promise((resolve) => child.once('exit', resolve))
        const pending = Array.from({ length: 120 }, (_, i) => get(port, `/${round}-${i}`).catch(() => undefined))
        await until(() => lines(directory).split(`"/${round}-`).length > 5 + round * 10 || undefined, { what: `writing in round ${round}` })
        child.kill('SIGKILL')
        await ended
        await Promise.all(pending)
      }
      const after = await startCachedEdge({ directory })
      await after.edge.edge.cache.purge(projectId, { tags: ['none-bears-it'] })
      after.app = (_request, response) => response.writeHead(200).end('from the app')
      let hits = 0
      for (let round = 0; round < 3; round++)
        for (let i = 0; i < 120; i++) {
          const got = await after.request(`/${round}-${i}`)
          if (got.headers['x-cache'] !== 'HIT') continue
          hits++
          expect(got.text).toBe(`/${round}-${i} `.repeat(3000))
        }
      expect(hits).toBeGreaterThan(30)
    },
    60_000,
  )
})
