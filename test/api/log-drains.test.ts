import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { LogDrain } from '../../server/contract/log-drains.ts'
import { type ApiContext, createApiContext, expectError } from './api-context.ts'

let context: ApiContext
const path = '/instance/projects/harbour/log-drains'
beforeAll(async () => {
  context = await createApiContext()
  await context.platform.createProject({ slug: 'harbour' })
})
afterEach(async () => {
  for (const { id } of await list()) await context.request('owner', 'DELETE', `${path}/${id}`)
})
afterAll(() => context.close())

const list = async () => ((await context.request('owner', 'GET', path)).body as { log_drains: LogDrain[] }).log_drains
const add = (body: object, who: Parameters<ApiContext['request']>[0] = 'owner', at = path) => context.request(who, 'POST', at, body)
const created = (response: { body: Record<string, unknown> }) => response.body as { log_drain: LogDrain; signing_secret: string | null }
const http = { kind: 'http', address: 'https://logs.example.com/ingest/the-credential?key=the-key' }

describe('a drain', () => {
  test('is added, changed and deleted; its headers and its URL are never returned, its signing secret once', async () => {
    const answer = await add({ ...http, headers: [{ name: 'Authorization', value: 'Bearer the-header' }] })
    const { log_drain, signing_secret } = created(answer)
    expect(signing_secret).toMatch(/^whsec_.{43}$/)
    expect(log_drain).toMatchObject({
      kind: 'http',
      name: 'logs.example.com',
      address: 'https://logs.example.com/…',
      format: 'ndjson',
      header_names: ['Authorization'],
      sources: ['app', 'build'],
      environments: 'all',
      is_enabled: true,
      state: { status: 'waiting', delivered: 0, dropped: 0, last_success_at: null, last_dropped_at: null, last_error: null },
    })
    const changed = await context.request('owner', 'PATCH', `${path}/${log_drain.id}`, {
      name: 'Service',
      sources: ['request'],
      environments: 'production',
      format: 'json',
      is_enabled: false,
    })
    expect(changed.body).toMatchObject({
      log_drain: {
        name: 'Service',
        sources: ['request'],
        environments: 'production',
        format: 'json',
        header_names: ['Authorization'],
        state: { status: 'off' },
      },
    })
    const listed = await context.request('owner', 'GET', path)
    const activity = await context.request('owner', 'GET', '/instance/activity?limit=20')
    expect(activity.text).toContain('log_drain.created')
    const texts = answer.text.replace(signing_secret ?? '', '') + changed.text + listed.text + activity.text + context.platform.log.join('\n')
    for (const secret of ['the-credential', 'the-key', 'the-header', signing_secret]) expect(texts).not.toContain(secret)
    expect((await context.request('owner', 'DELETE', `${path}/${log_drain.id}`)).body).toEqual({ ok: true })
    expectError(await context.request('owner', 'DELETE', `${path}/${log_drain.id}`), 404, 'log_drain_not_found')
    expectError(await context.request('owner', 'POST', `${path}/${log_drain.id}/test`), 404, 'log_drain_not_found')
  })

  test('loses its headers with its address, unless they are sent again', async () => {
    const { id } = created(await add({ ...http, headers: [{ name: 'Authorization', value: 'Bearer 1' }] })).log_drain
    const change = async (body: object) => (await context.request('owner', 'PATCH', `${path}/${id}`, body)).body as { log_drain: LogDrain }
    expect((await change({ name: 'Other' })).log_drain.header_names).toEqual(['Authorization'])
    expect((await change({ address: 'https://evil.example.com/' })).log_drain).toMatchObject({
      address: 'https://evil.example.com',
      header_names: [],
    })
    const both = { address: 'https://logs.example.com/', headers: [{ name: 'X-Api-Key', value: '2' }] }
    expect((await change(both)).log_drain.header_names).toEqual(['X-Api-Key'])
    expect((await change({ headers: [] })).log_drain.header_names).toEqual([])
  })

  test('there are at most five in a project', async () => {
    for (let n = 0; n < 5; n++) expect((await add({ kind: 'file', address: `file-${n}` })).status).toBe(201)
    expectError(await add({ kind: 'file', address: 'one-more' }), 409, 'too_many_log_drains')
    const [first] = await list()
    await context.request('owner', 'DELETE', `${path}/${first?.id}`)
    expectError(await add({ kind: 'file', address: 'file-4' }), 400, 'invalid_input')
    expect((await add({ kind: 'file', address: 'file-0.log' })).status).toBe(201)
  })

  test('goes with its project', async () => {
    await context.platform.createProject({ slug: 'short-lived' })
    await add(http, 'owner', '/instance/projects/short-lived/log-drains')
    await context.request('owner', 'DELETE', '/v1/projects/short-lived')
    expectError(await context.request('owner', 'GET', '/instance/projects/short-lived/log-drains'), 404, 'project_not_found')
  })
})

describe('addresses', () => {
  test.each([
    ['syslog', 'TLS://Logs.Example.com', 'tls://logs.example.com:6514'],
    ['syslog', 'tcp://127.0.0.1:5140', 'tcp://127.0.0.1:5140'],
    ['syslog', 'udp://[::1]/', 'udp://[::1]:514'],
    ['http', 'http://192.168.1.5:8080/', 'http://192.168.1.5:8080'],
  ])('%s %s is stored as %s', async (kind, address, stored) => {
    expect(created(await add({ kind, address })).log_drain.address).toBe(stored)
  })

  test.each([
    { kind: 'http', address: 'not a url' },
    { kind: 'http', address: 'ftp://logs.example.com/' },
    { kind: 'http', address: 'https://user:password@logs.example.com/' },
    { kind: 'http', address: 'http://169.254.169.254/latest' },
    { kind: 'http', address: 'http://8.8.8.8/' },
    { kind: 'syslog', address: 'https://logs.example.com' },
    { kind: 'syslog', address: 'tcp://8.8.8.8:514' },
    { kind: 'syslog', address: 'tls://169.254.169.254' },
    { kind: 'syslog', address: 'tls://logs.example.com:70000' },
    { kind: 'syslog', address: 'tls://user@logs.example.com' },
    { kind: 'syslog', address: 'tls://logs.example.com/path' },
    { kind: 'file', address: '../outside' },
    { kind: 'file', address: '/etc/passwd' },
    { kind: 'file', address: 'a/b' },
    { kind: 'file', address: '.hidden' },
    { kind: 'file', address: 'con' },
    { kind: 'file', address: 'UPPER' },
    { kind: 'file', address: 'a.log.1' },
    { kind: 'file', address: 'access', headers: [] },
    { kind: 'syslog', address: 'tls://logs.example.com', format: 'json' },
    { ...http, headers: [{ name: 'Host', value: 'a' }] },
    { ...http, headers: [{ name: 'X-A', value: 'a\r\nX-B: b' }] },
    { ...http, headers: [{ name: 'X A', value: 'a' }] },
    { ...http, sources: [] },
    { ...http, sources: ['kernel'] },
  ])('%j is refused', async (body) => {
    expectError(await add(body), 400, 'invalid_input')
  })

  test('other accounts reach public addresses with TLS alone, and write no files', async () => {
    const at = '/instance/projects/of-a-stranger/log-drains'
    expect((await context.request('stranger', 'POST', '/v1/projects', { name: 'Of a stranger', slug: 'of-a-stranger' })).status).toBe(201)
    for (const body of [
      { kind: 'http', address: 'http://127.0.0.1:1/' },
      { kind: 'http', address: 'https://10.0.0.1/' },
      { kind: 'http', address: 'https://localhost/' },
      { kind: 'http', address: 'http://logs.example.com/' },
      { kind: 'syslog', address: 'tcp://logs.example.com:514' },
      { kind: 'syslog', address: 'udp://logs.example.com:514' },
      { kind: 'syslog', address: 'tls://127.0.0.1:6514' },
    ])
      expectError(await add(body, 'stranger', at), 400, 'invalid_input')
    expectError(await add({ kind: 'file', address: 'access' }, 'stranger', at), 403, 'forbidden')
    expect((await add({ kind: 'syslog', address: 'tls://logs.example.com' }, 'stranger', at)).status).toBe(201)
    // Names are looked up when a connection is made.
    const { log_drain } = created(await add({ kind: 'http', address: 'https://rebound.localhost.example.com/' }, 'stranger', at))
    expect(log_drain.address).toBe('https://rebound.localhost.example.com')
  })
})
