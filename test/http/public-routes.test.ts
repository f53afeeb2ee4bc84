import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createHomeportSchema } from '../../server/contract/homeport-yaml.ts'
import { version } from '../../server/contract/index.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { sendRaw } from './raw-request.ts'

const html = { accept: 'text/html,application/xhtml+xml' }
let folder: string
let built: string
let server: ApiServer

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-dashboard-'))
  built = join(folder, 'renderer')
  mkdirSync(join(built, 'assets'), { recursive: true })
  writeFileSync(join(built, 'index.html'), '<!doctype html><title>dashboard</title>')
  writeFileSync(join(built, 'assets', 'main-abc123.js'), 'export {}')
  writeFileSync(join(built, 'assets', 'style-abc123.css'), ':root{}')
  writeFileSync(join(built, 'assets', 'main-abc123.js.br'), 'in brotli')
  writeFileSync(join(built, 'assets', 'main-abc123.js.gz'), 'in gzip')
  writeFileSync(join(folder, 'secret.txt'), 'outside')
  server = await startApiServer({ dashboard_dir: built })
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('health', () => {
  it('reports the state of the instance, without authentication', async () => {
    const response = await server.fetch('/healthz')
    const health: unknown = await response.json()
    expect(response.status).toBe(200)
    expect(health).toMatchObject({ status: 'ok', version, runtime: { name: 'process' }, uptime_s: 0, checks: { database: 'ok', edge: 'ok' } })
  })
})

it('the OpenAPI document is served exactly as generated', async () => {
  expect(await (await server.fetch('/openapi.json')).json()).toEqual(JSON.parse(JSON.stringify(openApiDocument())))
})

it('the schema of homeport.yaml is served for editors', async () => {
  const response = await server.fetch('/schemas/homeport.json')
  expect(response.headers.get('content-type')).toBe('application/schema+json; charset=utf-8')
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(createHomeportSchema())))
})

describe('the root', () => {
  it('redirects a browser to the dashboard and a program to the API', async () => {
    const browser = await server.fetch('/', { headers: html })
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/app/'])
    expect(await (await server.fetch('/')).json()).toMatchObject({ api: '/v1', openapi: '/openapi.json' })
  })
})

describe('the dashboard', () => {
  const policy = (response: Response) => response.headers.get('content-security-policy') ?? ''

  it('is served under /app/, with a strict policy', async () => {
    const response = await server.fetch('/app/')
    expect(await response.text()).toContain('<title>dashboard</title>')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    for (const part of ["default-src 'self'", "img-src 'self' data:", "frame-ancestors 'none'", "base-uri 'none'", "connect-src 'self'"])
      expect(policy(response)).toContain(part)
    expect(policy(response)).not.toMatch(/script-src|unsafe-eval/)
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
  })
  it.each(['/app/', '/app/projects', '/app/assets/main-abc123.js'])('%s cannot be read by pages of other origins', async (path) => {
    expect(Object.fromEntries((await server.fetch(path)).headers)).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
  })
  it('the policy allows the payment processor’s script only on the card form, and only with a processor', async () => {
    expect(policy(await server.fetch('/app/account/card'))).not.toContain('stripe')
    const paid = await startApiServer({ dashboard_dir: built, overrides: () => ({ has_card_form: true }) })
    try {
      const card = await paid.fetch('/app/account/card?plan=pro')
      const parts = policy(card).split('; ')
      expect(parts).toContain("script-src 'self' https://js.stripe.com https://*.js.stripe.com")
      expect(parts).toContain('frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com')
      expect(parts).toContain("connect-src 'self' https://api.stripe.com")
      expect(parts).toEqual(expect.arrayContaining(["default-src 'self'", "object-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"]))
      expect(policy(card)).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline/)
      for (const path of ['/app/account', '/app/', '/app/account/card/x']) expect(policy(await paid.fetch(path))).not.toContain('stripe')
    } finally {
      await paid.close()
    }
  })
  it.each(['/app', '/app/projects', '/app/projects/abc/deployments/dpl_1', '/app/settings'])('%s is a page of the dashboard', async (path) => {
    const response = await fetch(server.url + path)
    expect([response.status, await response.text()]).toEqual([200, '<!doctype html><title>dashboard</title>'])
  })
  it('files with a hash in their name are cached forever', async () => {
    const script = await server.fetch('/app/assets/main-abc123.js')
    expect([script.status, script.headers.get('content-type'), script.headers.get('cache-control')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ])
    expect((await server.fetch('/app/assets/style-abc123.css')).headers.get('content-type')).toBe('text/css; charset=utf-8')
  })
  it.each([
    ['gzip, deflate, br, zstd', 'br', 'in brotli'],
    ['gzip, deflate', 'gzip', 'in gzip'],
    ['GZIP;q=0.5, br; q=0', 'gzip', 'in gzip'],
    ['br;q=0.0, x-gzip', null, 'export {}'],
    ['identity', null, 'export {}'],
    ['', null, 'export {}'],
  ])('sends precompressed files to a browser that accepts “%s”', async (accepted, coding, body) => {
    const {
      status,
      headers,
      body: sent,
    } = await sendRaw(
      server.port,
      `GET /app/assets/main-abc123.js HTTP/1.1\r\nHost: localhost:${server.port}\r\nAccept-Encoding: ${accepted}\r\n\r\n`,
    )
    expect([status, headers.get('content-encoding') ?? null, headers.get('vary'), headers.get('content-type'), sent]).toEqual([
      200,
      coding,
      'accept-encoding',
      'text/javascript; charset=utf-8',
      body,
    ])
  })
  it.each([
    '/app/assets/main-abc123.js.br',
    '/app/assets/main-abc123.js.gz',
    '/app/assets/gone-1.js',
    '/app/secret.txt',
    '/app/../secret.txt',
    '/app/..%2fsecret.txt',
    '/app/%2e%2e/secret.txt',
    '/app/assets/..%5c..%5csecret.txt',
    '/app//etc/passwd.txt',
    '/app/assets/main-abc123.js%00.css',
  ])('%s is 404', async (path) => {
    const response = await sendRaw(server.port, `GET ${path} HTTP/1.1\r\nHost: localhost:${server.port}\r\n\r\n`)
    expect([response.status, response.json?.error]).toEqual([404, 'route_not_found'])
    expect(response.all).not.toContain('outside')
  })
  it('without a build it says how to build it', async () => {
    const bare = await startApiServer()
    const response = await bare.fetch('/app/', { headers: html })
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('npm start')])
    await bare.close()
  })
})

describe('sign-in', () => {
  it('accepts a code once and sets a cookie that is HttpOnly and SameSite', async () => {
    const link = `/sign-in?code=${await server.newSignInCode()}`
    const response = await server.fetch(link, { headers: html })
    expect([response.status, response.headers.get('location')]).toEqual([303, '/app/'])
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Strict'])
    expect((await server.fetch('/v1/projects', { headers: { cookie: cookie.split(';')[0] ?? '' } })).status).toBe(200)

    const again = await server.fetch(link, { headers: html })
    expect([again.status, again.headers.get('set-cookie'), await again.text()]).toEqual([401, null, expect.stringContaining('homeport open')])
  })
  it('does not consume a code for a link preview', async () => {
    const link = `/sign-in?code=${await server.newSignInCode()}`
    expect((await server.fetch(link, { method: 'HEAD' })).headers.get('set-cookie')).toBeNull()
    expect((await server.fetch(link)).status).toBe(303)
  })
  it('nor for a browser prefetch', async () => {
    const link = `/sign-in?code=${await server.newSignInCode()}`
    const ahead = await server.fetch(link, { headers: { ...html, 'sec-purpose': 'prefetch;prerender' } })
    expect([ahead.status, ahead.headers.get('set-cookie')]).toEqual([503, null])
    expect((await server.fetch(link)).status).toBe(303)
  })
  it.each(['?code=', '?code=wrong', '?code=a&code=b'])('%j is 401, in the format that the client accepts', async (query) => {
    const program = await server.fetch(`/sign-in${query}`)
    expect([program.status, await program.json()]).toEqual([401, expect.objectContaining({ error: 'unauthorized' })])
    const browser = await server.fetch(`/sign-in${query}`, { headers: html })
    expect([browser.status, browser.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
  })
})

describe('the Host header', () => {
  const ask = (port: number, host: string, headers = '') => sendRaw(port, `GET /v1/projects HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`)

  it('on loopback may be a name of the machine or of the settings', async () => {
    const named = await startApiServer({ names: ['deploy.example', 'other.example:8443'] })
    const auth = `Authorization: Bearer ${named.owner.token}\r\n`
    for (const host of [
      `localhost:${named.port}`,
      `127.0.0.1:${named.port}`,
      `[::1]:${named.port}`,
      `LOCALHOST:${named.port}`,
      'deploy.example',
      'Deploy.Example:443',
      'other.example:8443',
    ]) {
      expect([host, (await ask(named.port, host, auth)).status]).toEqual([host, 200])
    }
    for (const host of ['other.example', 'x.deploy.example', 'deploy.example.evil.example', 'deploy.example:x']) {
      expect([host, (await ask(named.port, host, auth)).status]).toEqual([host, 421])
    }
    await named.close()
  })
  it('on an open bind may be any name, but only with a token', async () => {
    const open = await startApiServer({ host: '0.0.0.0' })
    expect((await ask(open.port, 'box.lan', `Authorization: Bearer ${open.owner.token}\r\n`)).status).toBe(200)
    expect((await ask(open.port, 'box.lan', `Authorization: Bearer svc_wrong\r\n`)).status).toBe(421)
    expect((await ask(open.port, 'box.lan', `Cookie: ${server.cookie_name}=${open.owner.session}\r\n`)).status).toBe(421)
    expect((await ask(open.port, 'box.lan')).status).toBe(421)
    expect((await ask(open.port, `localhost:${open.port}`)).status).toBe(401)
    await open.close()
  })
})

describe('the port', () => {
  it('falls back to the next free one if allowed, and fails otherwise', async () => {
    const second = await startApiServer({ port: server.port, port_may_move: true })
    expect(second.port).not.toBe(server.port)
    expect((await second.fetch('/v1/projects', { headers: bearer(second.owner.token) })).status).toBe(200)
    await second.close()
    await expect(startApiServer({ port: server.port })).rejects.toThrow(`Port ${server.port} is in use.`)
  })
  it('also falls back from a port that Windows has reserved', async () => {
    const { listen } = Server.prototype
    const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
      if (args[0] !== server.port) return Reflect.apply(listen, this, args) as Server
      process.nextTick(() => this.emit('error', Object.assign(new Error('listen EACCES'), { code: 'EACCES' })))
      return this
    })
    const second = await startApiServer({ port: server.port, port_may_move: true })
    spy.mockRestore()
    expect(second.port).not.toBe(server.port)
    await second.close()
  })
})
