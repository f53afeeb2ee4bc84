/** The same key executes once. Persistence across a restart is in test/api/idempotency.test.ts. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createIdempotencyStore } from '../../server/features/idempotency-store.ts'
import type { ApiServerOptions } from '../../server/api/server.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { createTarGz } from '../support/archives.ts'
import { type ApiServer, bearer, failOnProjectName, startApiServer } from '../support/api-server.ts'
import { createTestClock } from '../support/test-clock.ts'
import { sendRaw } from './raw-request.ts'

const sealer = createSealer(randomBytes(32))
/** The clock of the keys only; the platform's is frozen. */
const clock = createTestClock({ frozen_at: '2026-01-31T12:00:00.000Z' })
let server: ApiServer
let keys = 0
/** A different project for every test. */
let shop: { name: string; slug: string }

beforeAll(async () => {
  server = await startApiServer({
    overrides: (options, { db }) => ({ ...failing(options), idempotencyStore: createIdempotencyStore({ db, sealer, clock }) }),
  })
  await server.createProject('other')
})
beforeEach(() => {
  shop = { name: 'Shop', slug: `shop-${++keys}` }
})
afterAll(() => server.close())

/** Creating a project named `throw` fails at once, and one named `fails afterwards` after its work. */
const failing = (options: ApiServerOptions): Partial<ApiServerOptions> => {
  const replaced = failOnProjectName('throw')(options)
  const { createProject } = { ...options.handlers, ...replaced.handlers }
  return {
    handlers: {
      ...options.handlers,
      async createProject(context, input) {
        const made = await createProject(context, input)
        if (input.body.name === 'fails afterwards') throw new Error('what is told to others failed')
        return made
      },
    },
  }
}

const freshKey = () => `key-${++keys}`
type Who = 'owner' | 'stranger'

async function post(
  key: string | null,
  path: string,
  body?: unknown,
  options: { who?: Who; method?: string; headers?: Record<string, string> } = {},
) {
  const response = await server.fetch(path, {
    method: options.method ?? 'POST',
    headers: {
      ...bearer(server[options.who ?? 'owner'].token),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === null ? {} : { 'idempotency-key': key }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    replayed: response.headers.get('idempotency-replayed'),
    text,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  }
}

const remove = (slug: string) => server.fetch(`/v1/projects/${slug}`, { method: 'DELETE', headers: bearer(server.owner.token) })
async function projects(): Promise<string[]> {
  const response = await server.fetch('/v1/projects?limit=100', { headers: bearer(server.owner.token) })
  return ((await response.json()) as { projects: { slug: string }[] }).projects.map(({ slug }) => slug)
}

describe('the same request with the same key', () => {
  it('gets the first response, body and headers, marked as replayed; the operation runs once', async () => {
    const key = freshKey()
    const first = await post(key, '/v1/projects', shop)
    const second = await post(key, '/v1/projects', shop)
    expect([first.status, first.replayed]).toEqual([201, null])
    expect([second.status, second.replayed, second.text]).toEqual([201, 'true', first.text])
    for (const name of ['content-type', 'content-length', 'cache-control']) expect(second.headers.get(name)).toBe(first.headers.get(name))
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(second.headers.get('x-ratelimit-remaining')).not.toBeNull()
    expect((await post(null, '/v1/projects', shop)).body.error).toBe('slug_taken')
  })

  it('also through the alias, and with another credential of the account', async () => {
    const key = freshKey()
    const first = await post(key, '/projects', shop)
    expect([first.status, first.headers.get('deprecation')]).toEqual([201, 'true'])
    const second = await post(key, '/v1/projects', shop)
    expect([second.status, second.replayed, second.text, second.headers.get('deprecation')]).toEqual([201, 'true', first.text, null])
    const session = {
      cookie: `${server.cookie_name}=${server.owner.session}`,
      origin: server.url,
      'content-type': 'application/json',
      'idempotency-key': key,
    }
    const third = await server.fetch('/v1/projects', { method: 'POST', headers: session, body: JSON.stringify(shop) })
    expect([third.status, third.headers.get('idempotency-replayed'), await third.text()]).toEqual([201, 'true', first.text])
  })

  it('404 if the project is gone; with a new project under its slug it is a different request', async () => {
    await server.createProject('gone')
    const key = freshKey()
    expect((await post(key, '/v1/projects/gone/cache/token')).status).toBe(201)
    await remove('gone')
    const second = await post(key, '/v1/projects/gone/cache/token')
    expect([second.status, second.body.error, second.replayed]).toEqual([404, 'project_not_found', null])
    await server.createProject('gone')
    const third = await post(key, '/v1/projects/gone/cache/token')
    expect([third.status, third.body.error, third.replayed]).toEqual([409, 'idempotency_conflict', null])
  })

  it('404 for a member who was removed from the team meanwhile', async () => {
    await server.createProject(shop.slug)
    const team = { owner_email: server.owner.email, member_email: server.stranger.email }
    await post(null, '/instance/team', team)
    const key = freshKey()
    const path = `/v1/projects/${shop.slug}/cache/token`
    const first = await post(key, path, undefined, { who: 'stranger' })
    expect([first.status, (await post(key, path, undefined, { who: 'stranger' })).text]).toEqual([201, first.text])
    await post(null, '/instance/team/remove', team)
    const second = await post(key, path, undefined, { who: 'stranger' })
    expect([second.status, second.body.error, second.replayed]).toEqual([404, 'project_not_found', null])
    expect(second.text).not.toContain(String(first.body.token))
  })

  it('replays a refusal of the operation, with the id of the current request', async () => {
    await server.createProject(shop.slug)
    const key = freshKey()
    const first = await post(key, '/v1/projects', shop)
    await remove(shop.slug)
    const second = await post(key, '/v1/projects', shop)
    expect([first.status, first.body.error, first.replayed]).toEqual([409, 'slug_taken', null])
    expect([second.status, second.replayed]).toEqual([409, 'true'])
    expect(second.body).toEqual({ ...first.body, request_id: second.headers.get('x-request-id') })
    expect(second.body.request_id).not.toBe(first.body.request_id)
    expect(Number(second.headers.get('content-length'))).toBe(Buffer.byteLength(second.text))
  })

  it('twenty at once: one runs, the others wait for its response', async () => {
    const key = freshKey()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(key, '/v1/projects', shop)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1)
  })

  it('is forgotten after 24 hours, and deleted', async () => {
    const key = freshKey()
    await post(key, '/v1/projects', shop)
    await clock.advance(24 * 3600_000 - 1)
    expect((await post(key, '/v1/projects', shop)).replayed).toBe('true')
    await clock.advance(1)
    const late = await post(key, '/v1/projects', shop)
    expect([late.status, late.replayed]).toEqual([409, null])
    await clock.advance(24 * 3600_000)
    await createIdempotencyStore({ db: server.store.db, sealer, clock }).deleteExpired()
    expect(await server.store.db.read((tx) => tx.statement('SELECT count(*) AS count FROM idempotency_keys').get())).toEqual({ count: 0 })
  })
})

describe('another request with the same key', () => {
  it.each([
    ['another body', '/v1/projects', () => ({ name: 'Shop', slug: 'shop2' })],
    ['another operation', '/v1/projects/other/stop', () => undefined],
    ['another query', '/v1/projects?x=1', () => shop],
  ])('409 idempotency_conflict for %s, without effect', async (_what, path, body) => {
    const key = freshKey()
    expect((await post(key, '/v1/projects', shop)).status).toBe(201)
    const before = await projects()
    const second = await post(key, path, body())
    expect([second.status, second.body.error, second.replayed]).toEqual([409, 'idempotency_conflict', null])
    expect(second.body.request_id).toBe(second.headers.get('x-request-id'))
    expect(await projects()).toEqual(before)
    // The first request is still replayed.
    expect((await post(key, '/v1/projects', shop)).replayed).toBe('true')
  })

  it('is checked last: 401, 404 and 400 come first', async () => {
    const key = freshKey()
    await post(key, '/v1/projects', shop)
    const anonymous = await server.fetch('/v1/projects', { method: 'POST', headers: { 'idempotency-key': key } })
    expect(anonymous.status).toBe(401)
    expect((await post(key, '/v1/projects/none/deploy')).body.error).toBe('project_not_found')
    expect((await post(key, '/v1/projects', { name: '' })).body.error).toBe('invalid_input')
    expect((await post(key, '/v1/projects', 'nonsense')).body.error).toBe('invalid_json')
  })

  it('of another account is independent', async () => {
    const key = freshKey()
    const first = await post(key, '/v1/projects', shop)
    const second = await post(key, '/v1/projects', { name: 'Theirs', slug: `theirs-${key}` }, { who: 'stranger' })
    expect([first.status, second.status, second.replayed]).toEqual([201, 201, null])
    expect((await post(key, '/v1/projects', shop, { who: 'stranger' })).body.error).toBe('idempotency_conflict')
  })
})

describe('the key stays free', () => {
  it('after a request refused before any effect: corrected, it succeeds', async () => {
    const key = freshKey()
    expect((await post(key, '/v1/projects', { name: 'Shop' })).status).toBe(400)
    expect((await post(key, '/v1/projects/none/deploy')).status).toBe(404)
    const response = await post(key, '/v1/projects', shop)
    expect([response.status, response.replayed]).toEqual([201, null])
  })

  it('after a 500: the next attempt runs again', async () => {
    const key = freshKey()
    for (let i = 0; i < 2; i++) {
      const response = await post(key, '/v1/projects', { name: 'throw', slug: 'thrown' })
      expect([response.status, response.replayed]).toEqual([500, null])
    }
    expect((await post(key, '/v1/projects', shop)).status).toBe(201)
  })

  it('for other methods, which ignore the header', async () => {
    await server.createProject(shop.slug)
    const key = freshKey()
    for (const name of ['One', 'Two']) {
      const response = await post(key, `/v1/projects/${shop.slug}`, { name }, { method: 'PATCH' })
      expect([response.status, (response.body.project as { name: string }).name, response.replayed]).toEqual([200, name, null])
    }
    expect((await post(key, '/v1/projects', { name: 'n', slug: `new-${key}` })).status).toBe(201)
  })

  it('but a multi-step request interrupted by a crash does not run a second time', async () => {
    await server.createProject(shop.slug)
    const key = freshKey()
    const path = `/v1/projects/${shop.slug}/stop`
    expect((await post(key, path)).status).toBe(200)
    await server.store.db.write((tx) =>
      tx.statement('UPDATE idempotency_keys SET status = NULL, headers = NULL, sealed_body = NULL WHERE key = ?').run(key),
    )
    const second = await post(key, path)
    expect([second.status, second.body.error]).toEqual([409, 'idempotency_conflict'])
    expect(second.body.message).toContain('interrupted by a crash')
  })

  it('but an atomic request that succeeded before a failure is replayed', async () => {
    const key = freshKey()
    const input = { name: 'fails afterwards', slug: shop.slug }
    expect((await post(key, '/v1/projects', input)).status).toBe(500)
    const second = await post(key, '/v1/projects', input)
    expect([second.status, second.replayed, (second.body.project as { slug: string }).slug]).toEqual([201, 'true', shop.slug])
  })
})

describe('the key', () => {
  it.each(['k', '1', 'k'.repeat(255), '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~ a', '550e8400-e29b-41d4-a716-446655440000'])('%s is valid', async (key) => {
    const input = { name: 'n', slug: `p${++keys}xx` }
    expect((await post(key, '/v1/projects', input)).status).toBe(201)
    expect((await post(key, '/v1/projects', input)).replayed).toBe('true')
  })

  it.each(['', 'k'.repeat(256), 'a\tb', 'schlüssel'])('400 for %j', async (key) => {
    const response = await post(key, '/v1/projects', shop)
    expect([response.status, response.body.error]).toEqual([400, 'invalid_input'])
    expect((response.body.issues as { path: string }[]).map(({ path }) => path)).toEqual(['Idempotency-Key'])
    expect(await projects()).not.toContain(shop.slug)
    expect((await post(key, '/v1/projects/none/deploy')).status).toBe(404)
  })

  it('400 for two of them, even if equal', async () => {
    const body = JSON.stringify(shop)
    const head = [
      'POST /v1/projects HTTP/1.1',
      `Host: 127.0.0.1:${server.port}`,
      `Authorization: Bearer ${server.owner.token}`,
      'Idempotency-Key: one',
      'Idempotency-Key: one',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    const response = await sendRaw(server.port, `${head.join('\r\n')}\r\n\r\n${body}`)
    expect([response.status, response.json?.error]).toEqual([400, 'invalid_input'])
    expect(await projects()).not.toContain(shop.slug)
  })
})

describe('an upload', () => {
  /** An archive of about this size, with a site that needs no build. */
  const archive = (bytes: number) =>
    new Uint8Array(
      createTarGz([
        { name: 'index.html', data: 'hello' },
        { name: 'noise.bin', data: randomBytes(bytes) },
      ]),
    )
  const small = archive(10)
  const upload = async (key: string, bytes: string | Uint8Array<ArrayBuffer>) => {
    const response = await server.fetch(`/v1/projects/${shop.slug}/upload`, {
      method: 'POST',
      headers: { ...bearer(server.owner.token), 'content-type': 'application/gzip', 'idempotency-key': key },
      body: bytes,
    })
    return { status: response.status, replayed: response.headers.get('idempotency-replayed'), text: await response.text() }
  }
  const form = async (key: string, bytes: Uint8Array<ArrayBuffer>) => {
    const body = new FormData()
    body.append('file', new Blob([bytes]), 'a.tar.gz')
    const headers = { ...bearer(server.owner.token), 'idempotency-key': key }
    const response = await server.fetch(`/v1/projects/${shop.slug}/upload`, { method: 'POST', headers, body })
    return { status: response.status, replayed: response.headers.get('idempotency-replayed'), text: await response.text() }
  }

  it('is compared by its bytes while streaming; the same file in a form is equal', async () => {
    await server.createProject(shop.slug)
    const key = freshKey()
    const large = archive(3_000_000)
    const first = await upload(key, large)
    expect([first.status, first.replayed]).toEqual([201, null])
    expect(await upload(key, large)).toEqual({ ...first, replayed: 'true' })
    expect(await form(key, large)).toEqual({ ...first, replayed: 'true' })
    const other = await upload(key, archive(3_000_000))
    expect([other.status, JSON.parse(other.text).error]).toEqual([409, 'idempotency_conflict'])
  })

  it('four at once: one deployment is made', async () => {
    await server.createProject(shop.slug)
    const key = freshKey()
    const answers = await Promise.all(Array.from({ length: 4 }, () => upload(key, small)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it('that was refused leaves the key free', async () => {
    await server.createProject(shop.slug)
    const key = freshKey()
    expect((await upload(key, '')).status).toBe(400)
    expect((await upload(key, small)).status).toBe(201)
  })
})

it('the store has no token of a response and no secret of a request in plain text', async () => {
  const key = freshKey()
  const first = await post(key, '/v1/tokens', { name: 'ci' })
  const token = first.body.token as string
  const second = await post(key, '/v1/tokens', { name: 'ci' })
  expect([second.status, second.replayed, second.body.token]).toEqual([201, 'true', token])
  const variable = { key: 'API_KEY', value: 'ci-value-of-a-secret' }
  const keyOfVariable = freshKey()
  const created = [
    await post(keyOfVariable, '/v1/projects/other/env-vars', variable),
    await post(keyOfVariable, '/v1/projects/other/env-vars', variable),
  ]
  expect(created.map(({ status, replayed }) => [status, replayed])).toEqual([
    [201, null],
    [201, 'true'],
  ])
  server.store.db.raw.exec('VACUUM')
  const bytes = server.store.db.raw.serialize()
  for (const secret of [token, variable.value]) expect([secret, bytes.includes(secret)]).toEqual([secret, false])
})

it('waiting requests run one after another when the first fails', async () => {
  const key = freshKey()
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(key, '/v1/projects', { name: 'throw', slug: 'thrown' })))
  expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual(Array.from({ length: 5 }, () => [500, null]))
})
