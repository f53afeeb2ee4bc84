import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { get, routeOwner, edgePaths, sendRaw, startEdge, type TestEdge } from '../support/edge.ts'

const script = 'console.log("hello");\n'.repeat(200)
const film = randomBytes(3_000_000)

describe.each(edgePaths)('static deployments, $name', ({ fast_path }) => {
  let edge: TestEdge
  let outside: string
  let folder: string

  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'homeport-edge-static-'))
    folder = join(outside, 'dist')
    const files: Record<string, string | Buffer> = {
      'index.html': '<!doctype html><title>home</title>',
      '404.html': '<h1>own 404</h1>',
      'about.html': 'about',
      'docs/index.html': 'docs',
      'docs/deep/page.html': 'deep',
      'assets/index-DiwrgTda.js': script,
      'assets/index-4f2a9c1b.css': 'a{}',
      'static-report-version2.json': '{}',
      'plain.txt': 'zero123456789',
      'film.mp4': film,
      'empty.css': '',
      'naïve file.txt': 'spaced',
      '.env': 'SECRET=1',
      '.git/config': 'secret',
      '.well-known/security.txt': 'contact',
      'large.json': JSON.stringify({ text: 'a large one '.repeat(50_000) }),
    }
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(folder, name, '..'), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    writeFileSync(join(outside, 'secret.txt'), 'outside')
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'link.txt'))
    symlinkSync(outside, join(folder, 'up'))
    symlinkSync('plain.txt', join(folder, 'inner.txt'))
    edge = await startEdge({ fast_path })
    await edge.edge.setRoute('app.localhost', { ...routeOwner, kind: 'static', directory: folder, spa_fallback: false })
    await edge.edge.setRoute('spa.localhost', { ...routeOwner, kind: 'static', directory: folder, spa_fallback: true })
  })
  afterAll(async () => {
    await edge.close()
    rmSync(outside, { recursive: true, force: true })
  })

  test.each([
    ['/', 200, 'home', 'text/html; charset=utf-8', 'no-cache'],
    ['/about', 200, 'about', 'text/html; charset=utf-8', 'no-cache'],
    ['/about.html', 200, 'about', 'text/html; charset=utf-8', 'no-cache'],
    ['/docs/', 200, 'docs', 'text/html; charset=utf-8', 'no-cache'],
    ['/docs/deep/page?x=1', 200, 'deep', 'text/html; charset=utf-8', 'no-cache'],
    ['/plain.txt', 200, 'zero', 'text/plain; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/inner.txt', 200, 'zero', 'text/plain; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/assets/index-DiwrgTda.js', 200, 'console', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/assets/index-4f2a9c1b.css', 200, 'a{}', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/static-report-version2.json', 200, '{}', 'application/json; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/na%C3%AFve%20file.txt', 200, 'spaced', 'text/plain; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/.well-known/security.txt', 200, 'contact', 'text/plain; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/empty.css', 200, '', 'text/css; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/missing', 404, 'own 404', 'text/html; charset=utf-8', 'no-cache'],
    ['/missing.png', 404, 'own 404', 'text/html; charset=utf-8', 'no-cache'],
  ])('%s is %i', async (path, status, text, type, cache) => {
    for (let twice = 0; twice < 2; twice++) {
      const got = await get(edge.port, path)
      expect([got.status, got.headers['content-type'], got.headers['cache-control']]).toEqual([status, type, cache])
      expect(got.text).toContain(text)
      expect(got.headers['x-request-id']).toMatch(/^req_/)
    }
  })

  test.each([
    ['/docs', '/docs/'],
    ['/docs?a=1', '/docs/?a=1'],
    ['/about/', '/about'],
    ['/d%6Fcs', '/d%6Fcs/'],
  ])('%s redirects to %s', async (path, location) => {
    const got = await get(edge.port, path)
    expect([got.status, got.headers.location]).toEqual([308, location])
  })

  test.each([
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/%2e%2e%2fsecret.txt',
    '/docs/../../secret.txt',
    '/..\\secret.txt',
    '/%5c..%5csecret.txt',
    '/link.txt',
    '/up/secret.txt',
    '/.env',
    '/%2eenv',
    '/.git/config',
    '/docs/.well-known/x',
    '/plain.txt%00.html',
    '//plain.txt',
    '/docs//deep/page.html',
    '/%',
    '/%ff',
    '/plain.txt/',
    '/plain.txt/x',
  ])('%s is not found', async (path) => {
    const { text } = await sendRaw(edge.port, `GET ${path} HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 404 /)
    expect(text).not.toMatch(/outside|SECRET|secret\n|zero123/)
  })

  test('a single-page app answers its own routes, and missing files are 404', async () => {
    expect((await get(edge.port, '/users/7', { host: 'spa.localhost' })).text).toContain('home')
    expect((await get(edge.port, '/users/7', { host: 'spa.localhost' })).status).toBe(200)
    expect((await get(edge.port, '/users/jane.doe', { host: 'spa.localhost' })).status).toBe(200)
    expect((await get(edge.port, '/assets/old-1234abcd.js', { host: 'spa.localhost' })).status).toBe(404)
    expect((await get(edge.port, '/missing.png', { host: 'spa.localhost' })).status).toBe(404)
  })

  test('ETag and Last-Modified save the body', async () => {
    const first = await get(edge.port, '/plain.txt')
    expect(first.headers.etag).toMatch(/^"[^"]+"$/)
    const conditions: Record<string, string>[] = [
      { 'if-none-match': first.headers.etag ?? '' },
      { 'if-none-match': `"x", W/${first.headers.etag}` },
      { 'if-none-match': '*' },
      { 'if-modified-since': first.headers['last-modified'] ?? '' },
    ]
    for (const headers of conditions) {
      const again = await get(edge.port, '/plain.txt', { headers })
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', first.headers.etag])
    }
    expect(
      (await get(edge.port, '/plain.txt', { headers: { 'if-none-match': '"other"', 'if-modified-since': first.headers['last-modified'] ?? '' } }))
        .status,
    ).toBe(200)
  })

  test.each([
    ['bytes=0-3', 206, 'zero', 'bytes 0-3/13'],
    ['bytes=4-', 206, '123456789', 'bytes 4-12/13'],
    ['bytes=-2', 206, '89', 'bytes 11-12/13'],
    ['bytes=5-100', 206, '23456789', 'bytes 5-12/13'],
    ['bytes=13-', 416, '', 'bytes */13'],
    ['bytes=-0', 416, '', 'bytes */13'],
    ['bytes=0-1,3-4', 200, 'zero123456789', undefined],
    ['bytes=5-2', 200, 'zero123456789', undefined],
    ['lines=1-2', 200, 'zero123456789', undefined],
    ['bytes=x', 200, 'zero123456789', undefined],
  ])('range %s is %i', async (range, status, text, content_range) => {
    const got = await get(edge.port, '/plain.txt', { headers: { range, 'accept-encoding': 'gzip' } })
    expect([got.status, got.text, got.headers['content-range']]).toEqual([status, text, content_range])
  })

  test('If-Range returns a range only of the matching version', async () => {
    const { headers } = await get(edge.port, '/plain.txt')
    const ask = (if_range: string): ReturnType<typeof get> => get(edge.port, '/plain.txt', { headers: { range: 'bytes=0-0', 'if-range': if_range } })
    expect((await ask(headers.etag ?? '')).status).toBe(206)
    expect((await ask(headers['last-modified'] ?? '')).status).toBe(206)
    expect((await ask('"another"')).status).toBe(200)
    expect((await ask(`W/${headers.etag}`)).status).toBe(200)
  })

  test('a large file is read from disk, completely or in part', async () => {
    expect((await get(edge.port, '/film.mp4')).body.equals(film)).toBe(true)
    const part = await get(edge.port, '/film.mp4', { headers: { range: 'bytes=1000000-2999998' } })
    expect(part.status).toBe(206)
    expect(part.body.equals(film.subarray(1_000_000, 2_999_999))).toBe(true)
    const head = await get(edge.port, '/film.mp4', { method: 'HEAD' })
    expect([head.headers['content-length'], head.body.length]).toEqual(['3000000', 0])
  })

  test.each([
    ['br', 'gzip, deflate, br, zstd', (body: Buffer) => brotliDecompressSync(body)],
    ['gzip', 'gzip, deflate', (body: Buffer) => gunzipSync(body)],
    ['gzip', 'br;q=0.5, gzip', (body: Buffer) => gunzipSync(body)],
    ['br', '*', (body: Buffer) => brotliDecompressSync(body)],
    [undefined, 'identity', (body: Buffer) => body],
    [undefined, 'br;q=0, gzip;q=0', (body: Buffer) => body],
    [undefined, 'deflate, zstd', (body: Buffer) => body],
  ])('coding %s for "%s"', async (coding, accept, decode) => {
    const plain = await get(edge.port, '/assets/index-DiwrgTda.js')
    const got = await get(edge.port, '/assets/index-DiwrgTda.js', { headers: { 'accept-encoding': accept } })
    expect(got.headers['content-encoding']).toBe(coding)
    expect(got.headers.vary).toBe('Accept-Encoding')
    expect(decode(got.body).toString()).toBe(script)
    expect(got.headers.etag === plain.headers.etag).toBe(coding === undefined)
    const again = await get(edge.port, '/assets/index-DiwrgTda.js', {
      headers: { 'accept-encoding': accept, 'if-none-match': got.headers.etag ?? '' },
    })
    expect([again.status, again.headers.etag, again.headers.vary]).toEqual([304, got.headers.etag, 'Accept-Encoding'])
  })

  test('large text is compressed too, images and videos are not', async () => {
    const headers = { 'accept-encoding': 'br' }
    const large = await get(edge.port, '/large.json', { headers })
    expect(large.headers['content-encoding']).toBe('br')
    expect(JSON.parse(brotliDecompressSync(large.body).toString()).text).toHaveLength(600_000)
    expect((await get(edge.port, '/film.mp4', { headers })).headers['content-encoding']).toBeUndefined()
    expect((await get(edge.port, '/film.mp4', { headers })).headers.vary).toBeUndefined()
  })

  test('a file that changes in place is detected', async () => {
    const path = join(folder, 'changing.txt')
    writeFileSync(path, 'before')
    expect((await get(edge.port, '/changing.txt')).text).toBe('before')
    writeFileSync(path, 'after!')
    utimesSync(path, new Date(), new Date(Date.now() + 5000))
    await edge.advance(2_000)
    expect((await get(edge.port, '/changing.txt')).text).toBe('after!')
    rmSync(path)
    await edge.advance(2_000)
    expect((await get(edge.port, '/changing.txt')).status).toBe(404)
  })

  test('other methods are 405 with the allowed ones', async () => {
    const got = await get(edge.port, '/', { method: 'POST', body: 'x' })
    expect([got.status, got.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
    const options = await get(edge.port, '/', { method: 'OPTIONS' })
    expect([options.status, options.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS'])
  })

  test('pipelined and aborted downloads leave nothing open', async () => {
    const bytes = 'GET /film.mp4 HTTP/1.1\r\nHost: app.localhost\r\n\r\n'
    await sendRaw(edge.port, bytes.repeat(3), { until: /mp4/ })
    const { text } = await sendRaw(
      edge.port,
      `${'GET /plain.txt HTTP/1.1\r\nHost: app.localhost\r\n\r\n'.repeat(5)}GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n`,
    )
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(6)
    const before = edge.edge.takeLastRequests()
    expect(before.size).toBe(1)
    await edge.edge.setRoute('app.localhost', { ...routeOwner, kind: 'static', directory: folder, spa_fallback: false }, { drain_ms: 3_600_000 })
  })
})
