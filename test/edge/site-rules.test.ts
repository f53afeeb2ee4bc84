import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseSiteRules } from '../../server/lib/site-rules.ts'
import { get, routeOwner, edgePaths, startEdge, type TestEdge } from '../support/edge.ts'

const files: Record<string, string> = {
  'index.html': 'home',
  'about.html': 'about',
  'old.html': 'old file',
  'app/index.html': 'app',
  'gone.html': 'gone page',
  'assets/a.js': 'js',
  '.env': 'SECRET=1',
  _redirects: [
    '# moved pages',
    '/blog/:year/:slug  /posts/:slug?y=:year  302',
    '/docs/*  https://docs.example.com/:splat',
    '/store id=:id  /shop/:id  307',
    '/old  /about',
    '/old/forced  /about  308!',
    '/about  /  302!',
    '/app/*  /app/index.html  200',
    '/gone/*  /gone.html  404',
    '/peek  /.env  200',
    '/rules  /_redirects  200',
    '/up  /../secret.txt  200',
    '/de  /german  302  Language=de',
    '/proxy/*  https://api.example.com/:splat  200',
    '//evil.example.com',
  ].join('\n'),
  _headers: [
    '/*',
    '  X-Frame-Options: DENY',
    '  Link: </a>',
    '/assets/*',
    '  Cache-Control: public, max-age=60',
    '  Link: </b>',
    '  Set-Cookie: a=b',
    '/*.js',
    '  Content-Type: text/plain',
  ].join('\n'),
}

describe.each(edgePaths)('_redirects and _headers, $name', ({ fast_path }) => {
  let edge: TestEdge
  let folder: string
  beforeAll(async () => {
    const outside = mkdtempSync(join(tmpdir(), 'homeport-edge-rules-'))
    folder = join(outside, 'dist')
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    writeFileSync(join(outside, 'secret.txt'), 'SECRET outside')
    edge = await startEdge({ fast_path })
    await edge.edge.setRoute('app.localhost', { ...routeOwner, kind: 'static', directory: folder, spa_fallback: false })
  })
  afterAll(async () => {
    await edge.close()
    rmSync(dirname(folder), { recursive: true, force: true })
  })

  test.each([
    ['/blog/2024/a%20b', 302, '/posts/a%20b?y=2024'],
    ['/docs/x/y?z=1', 301, 'https://docs.example.com/x/y?z=1'],
    ['/docs', 301, 'https://docs.example.com/'],
    ['/store?id=7', 307, '/shop/7'],
    ['/store?id=7%0d%0aX:1', 307, '/shop/7%0D%0AX%3A1'],
    ['/old/forced', 308, '/about'],
    ['/about', 302, '/'],
  ])('%s redirects with %i to %s', async (path, status, location) => {
    for (let twice = 0; twice < 2; twice++) {
      const got = await get(edge.port, path)
      expect([got.status, got.headers.location]).toEqual([status, location])
    }
  })

  test.each([
    ['/', 200, 'home'],
    ['/old', 200, 'old file'],
    ['/app/users/7', 200, 'app'],
    ['/gone/long/ago', 404, 'gone page'],
  ])('%s is %i: %s', async (path, status, text) => {
    for (let twice = 0; twice < 2; twice++) expect(await get(edge.port, path)).toMatchObject({ status, text })
  })

  test.each([
    '/_redirects',
    '/_headers',
    '/_Redirects',
    '/%5fheaders',
    '/peek',
    '/rules',
    '/up',
    '/store',
    '/de',
    '/proxy/x',
    '/docs//evil.example.com',
  ])('%s is not found', async (path) => {
    const { status, text } = await get(edge.port, path)
    expect(status).toBe(404)
    expect(text).not.toMatch(/SECRET|moved pages|X-Frame/)
  })

  test('headers are added and replaced, except those that only the edge can set', async () => {
    for (let twice = 0; twice < 2; twice++) {
      const page = await get(edge.port, '/')
      expect(page.headers).toMatchObject({ 'x-frame-options': 'DENY', link: '</a>', 'cache-control': 'no-cache' })
      const { headers } = await get(edge.port, '/assets/a.js')
      expect(headers).toMatchObject({ 'cache-control': 'public, max-age=60', link: '</a>, </b>', 'content-type': 'text/plain' })
      expect(headers['set-cookie']).toBeUndefined()
    }
  })
})

test('lines without effect are reported', () => {
  expect(parseSiteRules(files._redirects ?? '', files._headers ?? '').ignored).toEqual([
    '_redirects, line 13 has no effect: conditions such as Country and Language are not supported.',
    '_redirects, line 14 has no effect: proxying to other servers is not supported.',
    '_redirects, line 15 has no effect: its target is neither a path nor an http URL.',
    '_headers, line 7 has no effect: Set-Cookie is set by Homeport.',
  ])
})
