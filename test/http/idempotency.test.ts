/** The same key does its work once: the gate over a real ledger, with handlers that would do it twice. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKeptAnswers } from '../../server/features/kept-answers.ts'
import { type Store, openStore } from '../../server/store/open.ts'
import { createSealer } from '../../server/store/sealed.ts'
import { bearer, cookieName, sampleProject, startDouble } from './double.ts'
import type { Double } from './double.ts'
import { sendRaw } from './raw.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeport-idempotency-'))
const sealer = createSealer(Buffer.alloc(32, 7))
/** Turned by a test. */
let now = Date.now()
const clock = { now: () => now, monotonic: () => performance.now() }
let store: Store
let double: Double
let keys = 0

beforeAll(async () => {
  store = await openStore({ data_dir: folder, after_crash: false })
  double = await startDouble({ keptAnswers: createKeptAnswers({ db: store.db, sealer, clock }) })
})
beforeEach(() => double.projects.clear())
afterAll(async () => {
  await double.close()
  await store.close()
  rmSync(folder, { recursive: true })
})

const freshKey = () => `key-${++keys}`
type Who = 'owner' | 'stranger'

async function post(
  key: string | null,
  path: string,
  body?: unknown,
  options: { who?: Who; method?: string; headers?: Record<string, string> } = {},
) {
  const answer = await double.fetch(path, {
    method: options.method ?? 'POST',
    headers: {
      ...bearer(double[options.who ?? 'owner'].token),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === null ? {} : { 'idempotency-key': key }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    headers: answer.headers,
    replayed: answer.headers.get('idempotency-replayed'),
    text,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  }
}

const shop = { name: 'Shop', slug: 'shop' }
const mine = (slug: string, who: Who = 'owner') => double.projects.set(slug, { ...sampleProject(slug), account_id: double[who].caller.account_id })

describe('the same request with the same key', () => {
  it('gets the first answer, body and headers, marked; the work is done once', async () => {
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

  it('also when it comes by the alias, and by another credential of the account', async () => {
    const key = freshKey()
    const first = await post(key, '/projects', shop)
    expect([first.status, first.headers.get('deprecation')]).toEqual([201, 'true'])
    const second = await post(key, '/v1/projects', shop)
    expect([second.status, second.replayed, second.text, second.headers.get('deprecation')]).toEqual([201, 'true', first.text, null])
    const session = {
      cookie: `${cookieName}=${double.owner.session}`,
      origin: double.url,
      'content-type': 'application/json',
      'idempotency-key': key,
    }
    const third = await double.fetch('/v1/projects', { method: 'POST', headers: session, body: JSON.stringify(shop) })
    expect([third.status, third.headers.get('idempotency-replayed'), await third.text()]).toEqual([201, 'true', first.text])
  })

  it('also when what it was about is gone by now', async () => {
    mine('gone')
    const key = freshKey()
    const first = await post(key, '/v1/projects/gone/deploy')
    double.projects.clear()
    const second = await post(key, '/v1/projects/gone/deploy')
    expect([first.status, second.status, second.replayed, second.text]).toEqual([201, 201, 'true', first.text])
  })

  it('gets a refusal of the operation again, under the id of the request at hand', async () => {
    mine('shop')
    const key = freshKey()
    const first = await post(key, '/v1/projects', shop)
    double.projects.clear()
    const second = await post(key, '/v1/projects', shop)
    expect([first.status, first.body.error, first.replayed]).toEqual([409, 'slug_taken', null])
    expect([second.status, second.replayed]).toEqual([409, 'true'])
    expect(second.body).toEqual({ ...first.body, request_id: second.headers.get('x-request-id') })
    expect(second.body.request_id).not.toBe(first.body.request_id)
    expect(Number(second.headers.get('content-length'))).toBe(Buffer.byteLength(second.text))
  })

  it('twenty at once: one does it, the others wait for its answer', async () => {
    const key = freshKey()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(key, '/v1/projects', shop)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1)
  })

  it('finds it after a restart too', async () => {
    const key = freshKey()
    const first = await post(key, '/v1/projects', shop)
    const other = await startDouble({
      keptAnswers: createKeptAnswers({ db: store.db, sealer, clock }),
      authenticate: { byToken: async () => double.owner.caller, bySession: async () => undefined },
    })
    const headers = { ...bearer(double.owner.token), 'content-type': 'application/json', 'idempotency-key': key }
    const second = await other.fetch('/v1/projects', { method: 'POST', headers, body: JSON.stringify(shop) })
    expect([second.status, second.headers.get('idempotency-replayed'), await second.text()]).toEqual([201, 'true', first.text])
    expect(other.projects.size).toBe(0)
    await other.close()
  })

  it('is forgotten after 24 hours, and swept', async () => {
    const key = freshKey()
    await post(key, '/v1/projects', shop)
    const began = now
    now = began + 24 * 3600_000 - 1
    expect((await post(key, '/v1/projects', shop)).replayed).toBe('true')
    now = began + 24 * 3600_000
    const late = await post(key, '/v1/projects', shop)
    expect([late.status, late.replayed]).toEqual([409, null])
    now = began + 48 * 3600_000
    await createKeptAnswers({ db: store.db, sealer, clock }).sweep()
    expect(await store.db.read((tx) => tx.sqlFirst('SELECT count(*) AS count FROM idempotency_keys'))).toEqual({ count: 0 })
  })
})

describe('another request with the same key', () => {
  it.each([
    ['another body', '/v1/projects', { name: 'Shop', slug: 'shop2' }],
    ['another operation', '/v1/projects/shop/stop', undefined],
    ['another project', '/v1/projects/other/deploy', undefined],
    ['another query', '/v1/projects?x=1', shop],
  ])('409 idempotency_conflict for %s; nothing is done', async (_what, path, body) => {
    mine('other')
    const key = freshKey()
    expect((await post(key, '/v1/projects', shop)).status).toBe(201)
    const before = JSON.stringify([...double.projects])
    const second = await post(key, path, body)
    expect([second.status, second.body.error, second.replayed]).toEqual([409, 'idempotency_conflict', null])
    expect(second.body.request_id).toBe(second.headers.get('x-request-id'))
    expect(JSON.stringify([...double.projects])).toBe(before)
    // The first is still answered.
    expect((await post(key, '/v1/projects', shop)).replayed).toBe('true')
  })

  it('comes last in the order of checks: 401, 404 and 400 before it', async () => {
    const key = freshKey()
    await post(key, '/v1/projects', shop)
    const nobody = await double.fetch('/v1/projects', { method: 'POST', headers: { 'idempotency-key': key } })
    expect(nobody.status).toBe(401)
    expect((await post(key, '/v1/projects/none/deploy')).body.error).toBe('project_not_found')
    expect((await post(key, '/v1/projects', { name: '' })).body.error).toBe('invalid_input')
    expect((await post(key, '/v1/projects', 'nonsense')).body.error).toBe('invalid_json')
  })

  it('of another account is none of its business', async () => {
    const key = freshKey()
    const first = await post(key, '/v1/projects', shop)
    const second = await post(key, '/v1/projects', { name: 'Theirs', slug: 'theirs' }, { who: 'stranger' })
    expect([first.status, second.status, second.replayed]).toEqual([201, 201, null])
    expect((await post(key, '/v1/projects', shop, { who: 'stranger' })).body.error).toBe('idempotency_conflict')
  })
})

describe('what leaves the key free', () => {
  it('a request that was refused before anything was done: put right, it goes through', async () => {
    const key = freshKey()
    expect((await post(key, '/v1/projects', { name: 'Shop' })).status).toBe(400)
    expect((await post(key, '/v1/projects/none/deploy')).status).toBe(404)
    const answer = await post(key, '/v1/projects', shop)
    expect([answer.status, answer.replayed]).toEqual([201, null])
  })

  it('a 500: the next try is a first one', async () => {
    const key = freshKey()
    for (let i = 0; i < 2; i++) {
      const answer = await post(key, '/v1/projects', { name: 'throw', slug: 'thrown' })
      expect([answer.status, answer.replayed]).toEqual([500, null])
    }
    expect((await post(key, '/v1/projects', shop)).status).toBe(201)
  })

  it('other methods: the header means nothing there', async () => {
    mine('shop')
    const key = freshKey()
    for (const name of ['One', 'Two']) {
      const answer = await post(key, '/v1/projects/shop', { name }, { method: 'PATCH' })
      expect([answer.status, (answer.body.project as { name: string }).name, answer.replayed]).toEqual([200, name, null])
    }
    expect((await post(key, '/v1/projects', { name: 'n', slug: 'new-one' })).status).toBe(201)
  })

  it('but a first request that was cut off by a crash is not done a second time', async () => {
    const key = freshKey()
    const first = await post(key, '/v1/projects', shop)
    expect(first.status).toBe(201)
    await store.db.write((tx) => tx.sqlRun('UPDATE idempotency_keys SET status = NULL, headers = NULL, sealed_body = NULL WHERE key = ?', key))
    double.projects.clear()
    const second = await post(key, '/v1/projects', shop)
    expect([second.status, second.body.error]).toEqual([409, 'idempotency_conflict'])
    expect(second.body.message).toContain('cut off')
    expect(double.projects.size).toBe(0)
  })
})

describe('the key', () => {
  it.each(['k', '1', 'k'.repeat(255), '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~ a', '550e8400-e29b-41d4-a716-446655440000'])('%s is one', async (key) => {
    const input = { name: 'n', slug: `p${++keys}xx` }
    expect((await post(key, '/v1/projects', input)).status).toBe(201)
    expect((await post(key, '/v1/projects', input)).replayed).toBe('true')
  })

  it.each(['', 'k'.repeat(256), 'a\tb', 'schlüssel'])('400 for %j', async (key) => {
    const answer = await post(key, '/v1/projects', shop)
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_input'])
    expect((answer.body.issues as { path: string }[]).map(({ path }) => path)).toEqual(['Idempotency-Key'])
    expect(double.projects.size).toBe(0)
    expect((await post(key, '/v1/projects/none/deploy')).status).toBe(404)
  })

  it('400 for two of them, also when they are the same', async () => {
    const body = JSON.stringify(shop)
    const head = [
      'POST /v1/projects HTTP/1.1',
      `Host: 127.0.0.1:${double.port}`,
      `Authorization: Bearer ${double.owner.token}`,
      'Idempotency-Key: one',
      'Idempotency-Key: one',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    const answer = await sendRaw(double.port, `${head.join('\r\n')}\r\n\r\n${body}`)
    expect([answer.status, answer.json?.error]).toEqual([400, 'invalid_input'])
    expect(double.projects.size).toBe(0)
  })
})

describe('an upload', () => {
  const upload = async (key: string, bytes: string | Uint8Array<ArrayBuffer>) => {
    const answer = await double.fetch('/v1/projects/shop/upload', {
      method: 'POST',
      headers: { ...bearer(double.owner.token), 'content-type': 'application/zip', 'idempotency-key': key },
      body: bytes,
    })
    return { status: answer.status, replayed: answer.headers.get('idempotency-replayed'), text: await answer.text() }
  }
  const form = async (key: string, bytes: string) => {
    const body = new FormData()
    body.append('file', new Blob([bytes]), 'a.zip')
    const headers = { ...bearer(double.owner.token), 'idempotency-key': key }
    const answer = await double.fetch('/v1/projects/shop/upload', { method: 'POST', headers, body })
    return { status: answer.status, replayed: answer.headers.get('idempotency-replayed'), text: await answer.text() }
  }

  it('is compared by its bytes, read as they come; the same file in a form is the same', async () => {
    mine('shop')
    const key = freshKey()
    const large = new Uint8Array(3_000_000).fill(65)
    const first = await upload(key, large)
    expect([first.status, first.replayed]).toEqual([201, null])
    expect(await upload(key, large)).toEqual({ ...first, replayed: 'true' })
    expect(await form(key, 'A'.repeat(3_000_000))).toEqual({ ...first, replayed: 'true' })
    const other = await upload(key, new Uint8Array(3_000_000).fill(66))
    expect([other.status, JSON.parse(other.text).error]).toEqual([409, 'idempotency_conflict'])
  })

  it('four at once: one is built', async () => {
    mine('shop')
    const key = freshKey()
    const answers = await Promise.all(Array.from({ length: 4 }, () => upload(key, 'bytes')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it('that was refused leaves the key free', async () => {
    mine('shop')
    const key = freshKey()
    expect((await upload(key, '')).status).toBe(400)
    expect((await upload(key, 'bytes')).status).toBe(201)
  })
})

it('neither a token in an answer nor a secret in a request is in the ledger in plain', async () => {
  const key = freshKey()
  const first = await post(key, '/v1/tokens', { name: 'ci-name-of-a-secret' })
  const token = first.body.token as string
  const second = await post(key, '/v1/tokens', { name: 'ci-name-of-a-secret' })
  expect([second.status, second.replayed, second.body.token]).toEqual([201, 'true', token])
  for (const name of readdirSync(folder).filter((one) => one.startsWith('homeport.db'))) {
    const bytes = readFileSync(join(folder, name))
    for (const secret of [token, 'ci-name-of-a-secret']) expect([name, bytes.includes(secret)]).toEqual([name, false])
  }
})

it('the wait is over when the first fails: the next one does it', async () => {
  const key = freshKey()
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(key, '/v1/projects', { name: 'throw', slug: 'thrown' })))
  expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual(Array.from({ length: 5 }, () => [500, null]))
})
