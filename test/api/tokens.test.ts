import Database from 'better-sqlite3'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiToken } from '../../server/contract/tokens.ts'
import { isToken } from '../../server/lib/token.ts'
import { until } from '../support/until.ts'
import { expectError, issuePaths, createApiContext, type ApiContext } from './api-context.ts'

let context: ApiContext
beforeAll(async () => {
  context = await createApiContext()
})
afterAll(() => context.close())

type TokenCaller = Parameters<ApiContext['request']>[0]
interface CreatedToken {
  token: string
  api_token: ApiToken
}
const createToken = async (who: TokenCaller, body: unknown = { name: 'ci' }) => {
  const response = await context.request(who, 'POST', '/v1/tokens', body)
  expect(response.status).toBe(201)
  return response.body as unknown as CreatedToken
}
const listed = async (who: TokenCaller, query = '') => (await context.request(who, 'GET', `/v1/tokens${query}`)).body.api_tokens as ApiToken[]
const person = (name: string) => context.addPerson(`${name}@example.com`)

/** Reads and writes the database directly, for states that only time or a crash would cause. */
function openDatabase<T>(use: (db: Database.Database) => T): T {
  const db = new Database(join(context.platform.data_dir, 'homeport.db'))
  try {
    return use(db)
  } finally {
    db.close()
  }
}

/** Every file with its content; undefined if one disappeared during the read, such as the draft of an hourly copy. */
function filesIn(folder: string): { name: string; bytes: Buffer }[] | undefined {
  try {
    const found = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((one) => one.isFile())
    return found.map(({ name, parentPath }) => ({ name, bytes: readFileSync(join(parentPath, name)) }))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

describe('POST tokens', () => {
  test('201: svc_, 43 random characters and a checksum, with the record; it authenticates at once', async () => {
    const { token } = await person('maker')
    const before = await context.platform.now()
    const made = await createToken({ token }, { name: 'deploy from CI' })
    expect(made.token).toMatch(/^svc_[0-9A-Za-z]{49}$/)
    expect(isToken(made.token)).toBe(true)
    expect(made.api_token).toEqual({
      id: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
      name: 'deploy from CI',
      prefix: 'svc_',
      last4: made.token.slice(-4),
      last_used_at: null,
      expires_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    expect(Date.parse(made.api_token.created_at)).toBeGreaterThanOrEqual(before)
    expect((await context.request({ token: made.token }, 'GET', '/v1/projects')).status).toBe(200)
  })

  test('every token is unique', async () => {
    const { token } = await person('many')
    const all = await Promise.all(Array.from({ length: 30 }, () => createToken({ token })))
    expect(new Set(all.map((one) => one.token)).size).toBe(30)
    expect(new Set(all.map((one) => one.api_token.id)).size).toBe(30)
  })

  test('expires_in_days counts from now', async () => {
    const { api_token } = await createToken('stranger', { name: 'short', expires_in_days: 7 })
    expect(Date.parse(api_token.expires_at ?? '') - Date.parse(api_token.created_at)).toBe(7 * 24 * 3600_000)
  })

  test.each([
    [{}, ['name']],
    [{ name: '' }, ['name']],
    [{ name: 'n'.repeat(101) }, ['name']],
    [{ name: 1 }, ['name']],
    [{ name: 'n', expires_in_days: 0 }, ['expires_in_days']],
    [{ name: 'n', expires_in_days: 366 }, ['expires_in_days']],
    [{ name: 'n', expires_in_days: 1.5 }, ['expires_in_days']],
    [{ name: 'n', expires_in_days: '7' }, ['expires_in_days']],
    [{ name: 'n', expires_in_days: null }, ['expires_in_days']],
    [{ name: 'n', scopes: [] }, ['scopes']],
  ])('400 invalid_input for %j', async (body, paths) => {
    const response = await context.request('owner', 'POST', '/v1/tokens', body)
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual(paths)
  })

  test('accepts the longest name and the longest lifetime', async () => {
    expect((await createToken('owner', { name: 'ñ'.repeat(100), expires_in_days: 365 })).api_token.name).toBe('ñ'.repeat(100))
  })

  test('no file of the data folder contains the token: only its hash is stored', async () => {
    const { token } = await createToken('owner')
    await context.request({ token }, 'GET', '/v1/tokens')
    const files = await until(() => filesIn(context.platform.data_dir), { what: 'a listing during which no file disappears' })
    expect(files.length).toBeGreaterThan(3)
    for (const { name, bytes } of files) expect([name, bytes.includes(token)]).toEqual([name, false])
    expect(context.platform.log.join('\n')).not.toContain(token)
  })
})

describe('GET tokens', () => {
  test('the caller’s own only, newest first, without the token itself and without tokens of a run', async () => {
    const { token } = await person('lister')
    const first = await createToken({ token }, { name: 'one' })
    const second = await createToken({ token }, { name: 'two' })
    const response = await context.request({ token }, 'GET', '/v1/tokens')
    const mine = response.body.api_tokens as ApiToken[]
    expect(mine.map(({ name }) => name)).toEqual(['two', 'one', 'First token'])
    expect(mine[0]).toEqual(second.api_token)
    for (const secret of [token, first.token, second.token]) expect(response.text).not.toContain(secret.slice(4, 40))
    expect(response.body.next_cursor).toBeNull()
    const ofOwner = await listed('owner')
    expect(ofOwner.map(({ id }) => id)).not.toContain(first.api_token.id)
    const runTokens = openDatabase((db) => db.prepare("SELECT id FROM tokens WHERE kind = 'run'").pluck().all())
    expect(runTokens).toHaveLength(1)
    expect(ofOwner.map(({ id }) => id)).not.toContain(runTokens[0])
  })

  test('in pages: each once, also while newer ones are added and the last of a page is deleted', async () => {
    const { token } = await person('pager')
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.unshift((await createToken({ token }, { name: `t${i}` })).api_token.id)
    const one = await context.request({ token }, 'GET', '/v1/tokens?limit=2')
    expect((one.body.api_tokens as ApiToken[]).map(({ id }) => id)).toEqual(made.slice(0, 2))
    await createToken({ token }, { name: 'newer' })
    await context.request({ token }, 'DELETE', `/v1/tokens/${made[1]}`)
    const two = await context.request({ token }, 'GET', `/v1/tokens?limit=2&cursor=${one.body.next_cursor}`)
    expect((two.body.api_tokens as ApiToken[]).map(({ id }) => id)).toEqual(made.slice(2, 4))
    const rest = await context.request({ token }, 'GET', `/v1/tokens?limit=2&cursor=${two.body.next_cursor}`)
    expect((rest.body.api_tokens as ApiToken[]).map(({ name }) => name)).toEqual(['t0', 'First token'])
    expect(rest.body.next_cursor).toBeNull()
  })

  test.each(['?limit=0', '?limit=101', '?limit=x', '?limit=1&limit=2', '?cursor=nonsense', '?cursor='])('400 for %s', async (query) => {
    expectError(await context.request('owner', 'GET', `/v1/tokens${query}`), 400, 'invalid_input')
  })

  test('last_used_at is updated on use', async () => {
    const { token, api_token } = await createToken('owner', { name: 'used' })
    const since = await context.platform.now()
    await context.request({ token }, 'GET', '/v1/projects')
    const used = await until(async () => (await listed('owner')).find(({ id }) => id === api_token.id)?.last_used_at ?? undefined, {
      what: 'the use to be noted',
    })
    expect(Date.parse(used)).toBeGreaterThanOrEqual(since)
  })
})

describe('DELETE token', () => {
  test('204, and refused from the next request on, even if it was just used', async () => {
    const { token, api_token } = await createToken('stranger')
    const use = () => context.request({ token }, 'GET', '/v1/projects')
    for (let i = 0; i < 5; i++) expect((await use()).status).toBe(200)
    const response = await context.request('stranger', 'DELETE', `/v1/tokens/${api_token.id}`)
    expect([response.status, response.text]).toEqual([204, ''])
    expectError(await use(), 401, 'unauthorized')
    expectError(await context.request('stranger', 'DELETE', `/v1/tokens/${api_token.id}`), 404, 'token_not_found')
    expect((await listed('stranger')).map(({ id }) => id)).not.toContain(api_token.id)
    expect((await context.request('stranger', 'GET', '/v1/projects')).status).toBe(200)
  })

  test('a token can revoke itself', async () => {
    const { token, api_token } = await createToken('stranger')
    expect((await context.request({ token }, 'DELETE', `/v1/tokens/${api_token.id}`)).status).toBe(204)
    expectError(await context.request({ token }, 'GET', '/v1/tokens'), 401, 'unauthorized')
  })

  test('its open streams close within 5 s, those of other tokens stay open', async () => {
    const { token } = await person('streamer')
    const [revoked, kept] = [await createToken({ token }), await createToken({ token })]
    await context.request({ token }, 'POST', '/v1/projects', { name: 'n', slug: 'streamed' })
    const url = `${context.platform.handle.api_url}/v1/projects/streamed/runtime-logs`
    const open = async (with_: string) => {
      const response = await fetch(url, { headers: { authorization: `Bearer ${with_}` } })
      expect(response.status).toBe(200)
      let over = false
      return { ended: response.text().finally(() => (over = true)), isOver: () => over, answer: response }
    }
    const [goes, stays] = [await open(revoked.token), await open(kept.token)]
    stays.ended.catch(() => {})
    await context.request({ token }, 'DELETE', `/v1/tokens/${revoked.api_token.id}`)
    await context.platform.advance(5_000)
    await goes.ended
    expect(stays.isOver()).toBe(false)
    await context.request({ token }, 'DELETE', `/v1/tokens/${kept.api_token.id}`)
    await stays.ended
  })

  test('a token of another user, of a run and an unknown one get the same 404, and stay valid', async () => {
    const theirs = await createToken('stranger')
    const runToken = openDatabase((db) => db.prepare("SELECT id FROM tokens WHERE kind = 'run'").pluck().get() as string)
    const bodies = await Promise.all(
      [theirs.api_token.id, runToken, 'tok_00000000000000000000000000', '%00', "' OR 1=1 --"].map(async (id) => {
        const response = await context.request('owner', 'DELETE', `/v1/tokens/${encodeURIComponent(id)}`)
        expectError(response, 404, 'token_not_found')
        return JSON.stringify({ ...response.body, request_id: '' })
      }),
    )
    expect(new Set(bodies).size).toBe(1)
    expectError(await context.request('member', 'DELETE', `/v1/tokens/${theirs.api_token.id}`), 404, 'token_not_found')
    expect((await context.request({ token: theirs.token }, 'GET', '/v1/projects')).status).toBe(200)
    expect((await context.request('owner', 'GET', '/v1/projects')).status).toBe(200)
  })
})

describe('authentication', () => {
  test('an expired token is refused, and stays in the list', async () => {
    const { token, api_token } = await createToken('stranger', { name: 'old', expires_in_days: 1 })
    expect((await context.request({ token }, 'GET', '/v1/projects')).status).toBe(200)
    const expires_at = new Date((await context.platform.now()) - 1000).toISOString()
    openDatabase((db) => db.prepare('UPDATE tokens SET expires_at = ? WHERE id = ?').run(expires_at, api_token.id))
    // Written directly to the database, past the platform, whose own writes refresh its cache.
    await createToken('stranger', { name: 'a write' })
    expectError(await context.request({ token }, 'GET', '/v1/projects'), 401, 'unauthorized')
    expect((await listed('stranger')).find(({ id }) => id === api_token.id)?.expires_at).toBe(expires_at)
    expect((await context.request('stranger', 'DELETE', `/v1/tokens/${api_token.id}`)).status).toBe(204)
  })

  test('a browser session creates, lists and revokes tokens too', async () => {
    const { body } = await context.request('owner', 'POST', '/instance/sign-in-links')
    const response = await fetch(body.url as string, { redirect: 'manual', headers: { accept: 'text/html' } })
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    const origin = context.platform.handle.api_url
    const ask = (method: string, path: string, sent?: unknown) =>
      fetch(origin + path, {
        method,
        headers: { cookie, origin, 'content-type': 'application/json' },
        ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      })
    const made = await ask('POST', '/v1/tokens', { name: 'by browser' })
    expect(made.status).toBe(201)
    const { token, api_token } = (await made.json()) as CreatedToken
    expect((await context.request({ token }, 'GET', '/v1/projects')).status).toBe(200)
    expect(((await (await ask('GET', '/v1/tokens')).json()) as { api_tokens: ApiToken[] }).api_tokens[0]?.id).toBe(api_token.id)
    expect((await ask('DELETE', `/v1/tokens/${api_token.id}`)).status).toBe(204)
    expectError(await context.request({ token }, 'GET', '/v1/projects'), 401, 'unauthorized')
  })

  test('401 for a malformed token', async () => {
    const { token } = await createToken('owner')
    const flipped = `${token.slice(0, 20)}${token[20] === 'a' ? 'b' : 'a'}${token.slice(21)}`
    const bad = [flipped, token.toLowerCase(), `${token}x`, token.slice(0, -1), token.replace('svc_', 'hpp_'), 'svc_', ' ']
    for (const header of [...bad.map((one) => `Bearer ${one}`), token, `Bearer  ${token}`, `Basic ${token}`, 'Bearer']) {
      const response = await context.request('anonymous', 'GET', '/v1/projects', undefined, { authorization: header })
      expect([header, response.status]).toEqual([header, 401])
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
    }
    expect((await context.request('anonymous', 'GET', '/v1/projects', undefined, { authorization: `bearer ${token}` })).status).toBe(200)
    expectError(await context.request('anonymous', 'GET', `/v1/projects?token=${token}`), 401, 'unauthorized')
  })
})
