/** Access from the local network: closed by default, and then open only with the owner's password. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { LanStatus } from '../../server/contract/network.ts'
import { sendRequest } from '../support/http-request.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { makeRepository, type Repository } from '../support/repository.ts'

/** Two loopback addresses in place of network addresses. */
const withNetwork = describe.skipIf(!requires('loopback').ok)
const near = '127.0.0.2'
const other = '127.0.0.3'
const password = 'a long enough password'
/** The maximum delay after a failed password. */
const longestWait_ms = 60_000

/** Returns the request that the app received. */
const mirror = {
  'package.json': JSON.stringify({ name: 'mirror', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
require('node:http')
  .createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ url: request.url, headers: request.headers }))
  })
  .listen(process.env.PORT, '127.0.0.1')
`,
}

withNetwork('the network, opened', () => {
  let platform: TestPlatform
  let repository: Repository
  const port = () => new URL(platform.handle.api_url).port
  const edgePort = () => new URL(platform.handle.edge_url).port
  const lan = async () => (await platform.api<{ lan: LanStatus }>('GET', '/instance/lan')).body.lan
  const set = (value: boolean) => platform.api('PATCH', '/instance/settings', { lan: value })
  const owner = () => ({ authorization: `Bearer ${platform.handle.instance.token}` })
  const api = (path: string, address = near) => `http://${address}:${port()}${path}`

  beforeAll(async () => {
    repository = makeRepository(mirror)
    platform = await startTestPlatform({ runtime: 'process', lan_addresses: [near] })
    await platform.createProject({ slug: 'mirror', repo_url: repository.url })
    const { id } = await platform.deploy('mirror')
    expect((await platform.waitForEnd('mirror', id)).status).toBe('ready')
  })
  afterAll(async () => {
    await platform.remove()
    repository.remove()
  })

  test('by default every listener of the platform is on loopback', () => {
    const addresses = listeners(platform.pid)
    expect(addresses.length).toBeGreaterThan(1)
    expect(addresses.filter((address) => address !== '127.0.0.1' && address !== '::1')).toEqual([])
  })

  test('without the owner’s password: 409 that says how to set one, and nothing is opened', async () => {
    const refused = await set(true)
    expect([refused.status, refused.body.error]).toEqual([409, 'owner_password_required'])
    expect(refused.body.message).toContain('homeport password')
    expect(await lan()).toMatchObject({ open: false, has_owner_password: false, dashboard_urls: [], projects: [] })
    expect((await platform.api<{ settings: { lan: boolean } }>('GET', '/instance/settings')).body.settings.lan).toBe(false)
    await expect(sendRequest(api('/healthz'))).rejects.toThrow('ECONNREFUSED')
  })

  test('a password has ten characters or more; on this machine it needs no code', async () => {
    expect((await platform.api('POST', '/instance/password', { password: 'too short' })).status).toBe(400)
    expect(await platform.api('POST', '/instance/password', { password })).toMatchObject({ status: 200, body: { ok: true } })
    expect(databaseText(platform.data_dir)).not.toContain(password)
  })

  test('opens only the local network address, at the same ports', async () => {
    expect((await set(true)).status).toBe(200)
    expect((await sendRequest(api('/healthz'))).status).toBe(200)
    await expect(sendRequest(api('/healthz', other))).rejects.toThrow('ECONNREFUSED')
    const status = await lan()
    expect(status).toMatchObject({
      open: true,
      has_owner_password: true,
      sign_in_email: 'owner@homeport.localhost',
      encrypted: false,
      warning: expect.stringContaining('not encrypted'),
      dashboard_urls: [api('/app/')],
    })
    expect(listeners(platform.pid).filter((address) => address === '0.0.0.0' || address === '::')).toEqual([])
  })

  test('accepts the machine’s own hostnames there; any other requires a token', async () => {
    const status = async (host: string, headers = {}) => (await sendRequest(api('/docs'), { headers: { host, ...headers } })).status
    expect(await status(`${near}:${port()}`)).toBe(200)
    expect(await status(`${hostname().split('.')[0]}.local:${port()}`)).toBe(200)
    for (const host of ['evil.example', `evil.example:${port()}`, `${near}:1`, `${other}:${port()}`, `${near}.nip.io:${port()}`])
      expect([host, await status(host), await status(host, owner())]).toEqual([host, 421, 200])
    // The network hostname is not valid on loopback.
    const byLoopback = await sendRequest(`${platform.handle.api_url}/docs`, { headers: { host: `${near}:${port()}`, ...owner() } })
    expect(byLoopback.status).toBe(421)
  })

  test('each live project has its own address, whatever the machine is called', async () => {
    const [project] = (await lan()).projects
    expect(project).toMatchObject({ slug: 'mirror', name: 'mirror', urls: [expect.stringMatching(new RegExp(`^http://${near}:\\d+/$`))] })
    const url = project?.urls[0] ?? ''
    for (const host of [new URL(url).host, 'laptop.local', 'unknown.localhost']) {
      const { status, json } = await sendRequest(`${url}some/path?q=1`, { headers: { host } })
      expect([status, json]).toEqual([200, { url: '/some/path?q=1', headers: expect.objectContaining({ host, 'x-forwarded-host': host }) }])
    }
    expect((await sendRequest(url, { headers: { host: 'evil.example' } })).status).toBe(404)
    const odd = await sendRequest(url, { headers: { host: 'not a host' } })
    expect(odd.status).toBe(400)
    // At the edge's own port it is found by its hostname too.
    const byName = await sendRequest(`http://${near}:${edgePort()}/`, { headers: { host: `mirror.localhost:${edgePort()}` } })
    expect(byName.status).toBe(200)
    expect((await sendRequest(`http://${near}:${edgePort()}/`, { headers: { host: `${near}:${edgePort()}` } })).status).toBe(404)
  })

  test('signing in there creates a session there; no app ever sees its cookie', async () => {
    const { status, headers } = await signIn(api(''), password)
    expect([status, headers.location]).toEqual([303, '/app/'])
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    expect((await sendRequest(api('/instance/session'), { headers: { cookie } })).json).toMatchObject({ user: { is_instance_owner: true } })

    const url = (await lan()).projects[0]?.urls[0] ?? ''
    const seen = async (sent: string, at = url, host = new URL(at).host) => {
      const { json } = await sendRequest(at, { headers: { cookie: sent, host } })
      return (json as { headers: Record<string, string> }).headers.cookie
    }
    expect(await seen(`theme=dark; ${cookie}; lang=en`)).toBe('theme=dark; lang=en')
    expect(await seen(cookie)).toBeUndefined()
    expect(await seen(`${cookie}; ${cookie}`)).toBeUndefined()
    expect(await seen(cookie, `http://${near}:${edgePort()}/`, `mirror.localhost:${edgePort()}`)).toBeUndefined()
  })

  test('from another machine the password also requires a code, shown only here and valid once', async () => {
    const change = async (body: object, headers = {}) => {
      const { status, json } = await sendRequest(api('/instance/password'), { method: 'POST', headers: { ...owner(), ...headers }, body })
      return [status, json.error]
    }
    expect(await change({ password })).toEqual([403, 'forbidden'])
    expect(await change({ password, setup_code: 'ABCDE-FGHJK' })).toEqual([403, 'forbidden'])
    const overNetwork = await sendRequest(api('/instance/setup-codes'), { method: 'POST', headers: owner() })
    expect([overNetwork.status, overNetwork.json.error]).toEqual([403, 'forbidden'])
    // Requests through a proxy on this machine count as remote too.
    const proxied = await sendRequest(`${platform.handle.api_url}/instance/setup-codes`, {
      method: 'POST',
      headers: { ...owner(), 'x-forwarded-for': '203.0.113.9' },
    })
    expect(proxied.status).toBe(403)

    const code = async () => String((await platform.api('POST', '/instance/setup-codes')).body.setup_code)
    const first = await code()
    expect(first).toMatch(/^[A-Z2-9]{5}-[A-Z2-9]{5}$/)
    expect(await change({ password, setup_code: first })).toEqual([200, undefined])
    expect(await change({ password, setup_code: first })).toEqual([403, 'forbidden'])

    const guessed = await code()
    for (let i = 0; i < 5; i++) expect(await change({ password, setup_code: `WRONG-${i}` })).toEqual([403, 'forbidden'])
    expect(await change({ password, setup_code: guessed })).toEqual([403, 'forbidden'])
    expect(await change({ password, setup_code: 'x' }, { authorization: 'Bearer svc_wrong' })).toEqual([401, 'unauthorized'])
    expect(platform.log.join('\n')).not.toContain(first)
  })

  test('a new password ends every other session of the owner, and the old password', async () => {
    const cookieOf = async () => (await signIn(platform.handle.api_url, password)).headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    const [mine, other] = [await cookieOf(), await cookieOf()]
    const next = 'another long password'
    const changed = await sendRequest(`${platform.handle.api_url}/instance/password`, {
      method: 'POST',
      headers: { cookie: mine, origin: platform.handle.api_url },
      body: { password: next },
    })
    expect(changed.status).toBe(200)
    const alive = async (cookie: string) => (await sendRequest(`${platform.handle.api_url}/instance/session`, { headers: { cookie } })).status
    expect([await alive(mine), await alive(other)]).toEqual([200, 401])
    expect((await signIn(platform.handle.api_url, password)).status).toBe(401)
    expect((await signIn(platform.handle.api_url, next)).status).toBe(303)
    expect((await platform.api('POST', '/instance/password', { password })).status).toBe(200)
  })

  fullTest('failed passwords over the network are delayed; this machine is never locked out', async () => {
    // All at once: sequentially, a slow machine would wait out each delay.
    const tries = () => Promise.all(Array.from({ length: 8 }, () => signIn(api(''), 'wrong password')))
    const refused = await until(async () => (await tries()).find(({ status }) => status !== 401), { what: 'a refusal to look at any more' })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await signIn(platform.handle.api_url, 'wrong password')).status).toBe(401)
    expect((await signIn(platform.handle.api_url, password)).status).toBe(303)
    await platform.advance(longestWait_ms)
    expect((await signIn(api(''), password)).status).toBe(303)
  })

  fullTest('follows address changes of the machine', async () => {
    await platform.handle.setLanAddresses([other])
    await set(true)
    await expect(sendRequest(api('/healthz'))).rejects.toThrow('ECONNREFUSED')
    expect((await sendRequest(api('/healthz', other))).status).toBe(200)
    const [url] = (await lan()).projects[0]?.urls ?? []
    expect(url).toContain(other)
    expect((await sendRequest(url ?? '')).status).toBe(200)
    await platform.handle.setLanAddresses([])
    await set(true)
    expect(await lan()).toMatchObject({ open: true, dashboard_urls: [], warning: expect.stringContaining('no local network address') })
    await platform.handle.setLanAddresses([near])
    await set(true)
  })

  test('a deleted project is closed by itself, a new one opens', async () => {
    await platform.createProject({ slug: 'second', repo_url: repository.url })
    const { id } = await platform.deploy('second')
    expect((await platform.waitForEnd('second', id)).status).toBe('ready')
    const url = await until(async () => (await lan()).projects.find((one) => one.slug === 'second')?.urls[0], { what: 'the second project' })
    expect((await sendRequest(url)).status).toBe(200)
    await platform.api('DELETE', '/v1/projects/second')
    await until(
      () =>
        sendRequest(url).then(
          () => undefined,
          () => true,
        ),
      { what: 'its listener to close' },
    )
  })

  test('closing cuts open connections at once, and still answers the request that closed it', async () => {
    const url = (await lan()).projects[0]?.urls[0] ?? ''
    const idle = [new URL(api('')), new URL(url)].map(({ hostname: host, port: at }) => connect({ host, port: Number(at) }))
    const gone = idle.map((socket) => new Promise((resolve) => socket.on('error', () => {}).on('close', resolve)))
    const stream = await fetch(api('/instance/events'), { headers: owner() })
    const streamEnded = stream.text().then(
      () => true,
      () => true,
    )
    const off = await sendRequest(api('/instance/settings'), { method: 'PATCH', headers: owner(), body: { lan: false } })
    expect([off.status, off.json]).toEqual([200, { settings: expect.objectContaining({ lan: false }) }])
    await Promise.all([...gone, streamEnded])
    for (const closed of [api('/healthz'), `http://${near}:${edgePort()}/`, url]) await expect(sendRequest(closed)).rejects.toThrow('ECONNREFUSED')
    expect(await lan()).toMatchObject({ open: false, warning: null, dashboard_urls: [], projects: [] })
    expect((await sendRequest(`${platform.handle.api_url}/healthz`)).status).toBe(200)
  })

  fullTest('stays open across a restart, and a project keeps its port', async () => {
    await set(true)
    const before = (await lan()).projects[0]?.urls[0] ?? ''
    const { data_dir } = platform
    const ports = { port: Number(port()), edge_port: Number(edgePort()) }
    await platform.handle.stop()
    await expect(sendRequest(before)).rejects.toThrow('ECONNREFUSED')
    platform = await startTestPlatform({ runtime: 'process', data_dir, ...ports, lan_addresses: [near] })
    expect((await sendRequest(api('/healthz'))).status).toBe(200)
    const after = await until(async () => (await lan()).projects[0]?.urls[0], { what: 'the project to be live again' })
    expect(after).toBe(before)
  })
})

function signIn(origin: string, secret: string, email = 'owner@homeport.localhost') {
  return sendRequest(`${origin}/sign-in`, {
    method: 'POST',
    headers: { origin, accept: 'text/html' },
    body: new URLSearchParams({ email, password: secret }),
  })
}

/** Addresses on which a process listens for TCP, from the kernel's tables. */
function listeners(pid: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`).match(/^socket:\[(\d+)\]$/)?.[1] ?? []
      } catch {
        return []
      }
    }),
  )
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
        return state === '0A' && inodes.has(inode) ? [addressOf(local.split(':')[0] ?? '')] : []
      }),
  )
}

/** The kernel writes each 32-bit word in the byte order of the machine. */
function addressOf(hex: string): string {
  const words = hex.match(/.{8}/g)?.map((word) => Buffer.from(word, 'hex').reverse()) ?? []
  if (words.length === 1) return [...(words[0] ?? [])].join('.')
  const text = Buffer.concat(words).toString('hex')
  return text === '0'.repeat(31) + '1' ? '::1' : text === '0'.repeat(32) ? '::' : text
}

const databaseText = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.includes('.db'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('')
