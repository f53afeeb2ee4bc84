import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandLine, commandLine } from '../support/command.ts'
import { get } from '../support/edge.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

const folder = createTempFolder('cache-command')
let platform: SharedPlatform
let run: CommandLine

beforeAll(async () => {
  const app = join(folder.path, 'counting')
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'counting', private: true, scripts: { start: 'node server.js' } }))
  writeFileSync(
    join(app, 'server.js'),
    `let count = 0
require('node:http').createServer((request, response) => {
  // Its clock is not the platform's, which other tests move: a Date of the past would make responses stale.
  response.sendDate = false
  response.writeHead(200, { 'cache-control': 'public, max-age=600', 'surrogate-key': request.url.slice(1) + ' page' })
  response.end(String(++count))
}).listen(process.env.PORT)`,
  )
  platform = await sharedPlatform()
  run = commandLine(platform.handle.instance, folder.path)
  expect(await run('deploy', app)).toMatchObject({ code: 0, err: '' })
})
afterAll(async () => {
  await platform.remove()
  folder.remove()
})

const fetchPath = async (path: string) => {
  const { port } = new URL(platform.handle.edge_url)
  return (await get(Number(port), path, { host: `counting.localhost:${port}` })).headers['x-cache']
}
/** Requests twice, so that it is stored. */
async function store(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await fetchPath(path)
    expect([path, await fetchPath(path)]).toEqual([path, 'HIT'])
  }
}

describe('homeport cache SLUG', () => {
  test('shows what is stored', async () => {
    await run('cache', 'counting', 'purge')
    await store('/a', '/b')
    const { code, out } = await run('cache', 'counting')
    expect(code).toBe(0)
    expect(out).toMatch(/^caching +on$/m)
    expect(out).toMatch(/^stored +2 responses, /m)
    expect(out).toMatch(/^webhook token +none; /m)
    expect(JSON.parse((await run('cache', 'counting', 'status', '--json')).out)).toMatchObject({ cache: { caching_enabled: true, objects: 2 } })
  })

  test('purge: all, tags, addresses', async () => {
    await store('/a', '/b', '/c', '/d')
    expect(await run('cache', 'counting', 'purge', '--tags', 'a', 'b')).toMatchObject({ code: 0, out: 'Purged 2 cached responses of counting.\n' })
    expect(await run('cache', 'counting', 'purge', '/c', '/nothing')).toMatchObject({ code: 0, out: 'Purged 1 cached response of counting.\n' })
    expect(JSON.parse((await run('cache', 'counting', 'purge', '--json')).out)).toEqual({ ok: true, purged: 1 })
    expect(await fetchPath('/a')).toBe('MISS')
  })

  test('log lists them, newest first', async () => {
    const { out } = await run('cache', 'counting', 'log', '--limit', '3')
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(4)
    expect(lines[1]).toMatch(/ api +purge_all +1 +-$/)
    expect(lines[2]).toMatch(/ api +purge_urls +1 +\/c \/nothing$/)
    expect(lines[3]).toMatch(/ api +purge_tags +2 +a b$/)
  })

  test('inspect gives the reason, and --send sends a real request', async () => {
    expect((await run('cache', 'counting', 'inspect', '/i')).out).toMatch(/^MISS {2}http:\/\/counting\.localhost:\d+\/i\n/)
    expect((await run('cache', 'counting', 'inspect', '/i', '--send')).out).toMatch(/^live response +200, MISS, [\d.]+ ms$/m)
    const { out } = await run('cache', 'counting', 'inspect', '/i')
    expect(out).toMatch(/^HIT /)
    expect(out).toMatch(/^tags +i, page$/m)
    expect(out).toMatch(/^stored +\d+ s ago, 200, 1 byte, in (memory|disk), fresh for \d+ s more$/m)
  })

  test('token prints only the token on standard output, and how to use it on standard error', async () => {
    const { code, out, err } = await run('cache', 'counting', 'token')
    expect(code).toBe(0)
    expect(out).toMatch(/^hpp_[0-9A-Za-z]{49}\n$/)
    expect(err).toContain(`${platform.handle.api_url}/hooks/cache/counting`)
    expect((await run('cache', 'counting')).out).toMatch(/^webhook token +created$/m)
  })

  test('off and on', async () => {
    expect((await run('cache', 'counting', 'off')).code).toBe(0)
    expect(await fetchPath('/o')).toBe('BYPASS')
    expect((await run('cache', 'counting')).out).toMatch(/^caching +off$/m)
    expect((await run('cache', 'counting', 'on')).code).toBe(0)
    await store('/o')
  })

  test('refuses invalid arguments', async () => {
    expect((await run('cache')).code).toBe(2)
    expect((await run('cache', 'counting', 'fly')).code).toBe(2)
    expect((await run('cache', 'counting', 'log', 'more')).code).toBe(2)
    expect((await run('cache', 'counting', 'purge', '--tags')).code).toBe(2)
    expect((await run('cache', 'counting', 'inspect')).code).toBe(2)
    expect((await run('cache', 'counting', 'inspect', '/', '--header', 'de')).code).toBe(2)
    expect((await run('cache', 'counting', 'inspect', '/', '--header', 'host:a')).code).toBe(1)
    expect(await run('cache', 'nobody', 'purge')).toMatchObject({ code: 1, err: expect.stringContaining('project_not_found') })
    expect(await run('cache', 'counting', 'purge', 'http://other.localhost/')).toMatchObject({ code: 1, err: expect.stringContaining('urls.0') })
  })
})
