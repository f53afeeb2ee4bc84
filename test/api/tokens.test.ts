import Database from 'better-sqlite3'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiToken } from '../../server/contract/tokens.ts'
import { isToken } from '../../server/lib/token.ts'
import { until } from '../support/until.ts'
import { expectRefusal, faults, startWorld } from './world.ts'
import type { World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

type Asker = Parameters<World['ask']>[0]
interface Made {
  token: string
  api_token: ApiToken
}
const make = async (who: Asker, body: unknown = { name: 'ci' }) => {
  const answer = await world.ask(who, 'POST', '/v1/tokens', body)
  expect(answer.status).toBe(201)
  return answer.body as unknown as Made
}
const listed = async (who: Asker, query = '') => (await world.ask(who, 'GET', `/v1/tokens${query}`)).body.api_tokens as ApiToken[]
const person = (name: string) => world.add(`${name}@example.com`)

/** Reads and writes the ledger beside the platform, where only time or a crash would do it. */
function ledger<T>(use: (db: Database.Database) => T): T {
  const db = new Database(join(world.home.data_dir, 'homeport.db'))
  try {
    return use(db)
  } finally {
    db.close()
  }
}

/** Every file with what is in it; undefined when one went while they were read, as the draft of an hourly copy does. */
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
  test('201: svc_, 43 random characters and a checksum, with the record; it signs in at once', async () => {
    const { token } = await person('maker')
    const before = await world.home.now()
    const made = await make({ token }, { name: 'deploy from CI' })
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
    expect((await world.ask({ token: made.token }, 'GET', '/v1/projects')).status).toBe(200)
  })

  test('no two are the same', async () => {
    const { token } = await person('many')
    const all = await Promise.all(Array.from({ length: 30 }, () => make({ token })))
    expect(new Set(all.map((one) => one.token)).size).toBe(30)
    expect(new Set(all.map((one) => one.api_token.id)).size).toBe(30)
  })

  test('expires_in_days is counted from now', async () => {
    const { api_token } = await make('stranger', { name: 'short', expires_in_days: 7 })
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
    const answer = await world.ask('owner', 'POST', '/v1/tokens', body)
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual(paths)
  })

  test('the longest name and the longest life are taken', async () => {
    expect((await make('owner', { name: 'ñ'.repeat(100), expires_in_days: 365 })).api_token.name).toBe('ñ'.repeat(100))
  })

  test('no file of the data folder has the token: its hash alone is stored', async () => {
    const { token } = await make('owner')
    await world.ask({ token }, 'GET', '/v1/tokens')
    const files = await until(() => filesIn(world.home.data_dir), { what: 'a look at a folder in which nothing goes meanwhile' })
    expect(files.length).toBeGreaterThan(3)
    for (const { name, bytes } of files) expect([name, bytes.includes(token)]).toEqual([name, false])
    expect(world.home.log.join('\n')).not.toContain(token)
  })
})

describe('GET tokens', () => {
  test('mine alone, newest first, never the token itself nor what a run signs in with', async () => {
    const { token } = await person('lister')
    const first = await make({ token }, { name: 'one' })
    const second = await make({ token }, { name: 'two' })
    const answer = await world.ask({ token }, 'GET', '/v1/tokens')
    const mine = answer.body.api_tokens as ApiToken[]
    expect(mine.map(({ name }) => name)).toEqual(['two', 'one', 'First token'])
    expect(mine[0]).toEqual(second.api_token)
    for (const secret of [token, first.token, second.token]) expect(answer.text).not.toContain(secret.slice(4, 40))
    expect(answer.body.next_cursor).toBeNull()
    const ofOwner = await listed('owner')
    expect(ofOwner.map(({ id }) => id)).not.toContain(first.api_token.id)
    const runTokens = ledger((db) => db.prepare("SELECT id FROM tokens WHERE kind = 'run'").pluck().all())
    expect(runTokens).toHaveLength(1)
    expect(ofOwner.map(({ id }) => id)).not.toContain(runTokens[0])
  })

  test('by pages: each once, also while newer ones come and the last of a page goes', async () => {
    const { token } = await person('pager')
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.unshift((await make({ token }, { name: `t${i}` })).api_token.id)
    const one = await world.ask({ token }, 'GET', '/v1/tokens?limit=2')
    expect((one.body.api_tokens as ApiToken[]).map(({ id }) => id)).toEqual(made.slice(0, 2))
    await make({ token }, { name: 'newer' })
    await world.ask({ token }, 'DELETE', `/v1/tokens/${made[1]}`)
    const two = await world.ask({ token }, 'GET', `/v1/tokens?limit=2&cursor=${one.body.next_cursor}`)
    expect((two.body.api_tokens as ApiToken[]).map(({ id }) => id)).toEqual(made.slice(2, 4))
    const rest = await world.ask({ token }, 'GET', `/v1/tokens?limit=2&cursor=${two.body.next_cursor}`)
    expect((rest.body.api_tokens as ApiToken[]).map(({ name }) => name)).toEqual(['t0', 'First token'])
    expect(rest.body.next_cursor).toBeNull()
  })

  test.each(['?limit=0', '?limit=101', '?limit=x', '?limit=1&limit=2', '?cursor=nonsense', '?cursor='])('400 for %s', async (query) => {
    expectRefusal(await world.ask('owner', 'GET', `/v1/tokens${query}`), 400, 'invalid_input')
  })

  test('last_used_at is noted when it is used', async () => {
    const { token, api_token } = await make('owner', { name: 'used' })
    const since = await world.home.now()
    await world.ask({ token }, 'GET', '/v1/projects')
    const used = await until(async () => (await listed('owner')).find(({ id }) => id === api_token.id)?.last_used_at ?? undefined, {
      what: 'the use to be noted',
    })
    expect(Date.parse(used)).toBeGreaterThanOrEqual(since)
  })
})

describe('DELETE token', () => {
  test('204, and refused from the next request on, though it was in use a moment ago', async () => {
    const { token, api_token } = await make('stranger')
    const use = () => world.ask({ token }, 'GET', '/v1/projects')
    for (let i = 0; i < 5; i++) expect((await use()).status).toBe(200)
    const answer = await world.ask('stranger', 'DELETE', `/v1/tokens/${api_token.id}`)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expectRefusal(await use(), 401, 'unauthorized')
    expectRefusal(await world.ask('stranger', 'DELETE', `/v1/tokens/${api_token.id}`), 404, 'token_not_found')
    expect((await listed('stranger')).map(({ id }) => id)).not.toContain(api_token.id)
    expect((await world.ask('stranger', 'GET', '/v1/projects')).status).toBe(200)
  })

  test('a token may revoke itself', async () => {
    const { token, api_token } = await make('stranger')
    expect((await world.ask({ token }, 'DELETE', `/v1/tokens/${api_token.id}`)).status).toBe(204)
    expectRefusal(await world.ask({ token }, 'GET', '/v1/tokens'), 401, 'unauthorized')
  })

  test('its open streams close within 5 s, those of another token stay', async () => {
    const { token } = await person('streamer')
    const [revoked, kept] = [await make({ token }), await make({ token })]
    await world.ask({ token }, 'POST', '/v1/projects', { name: 'n', slug: 'streamed' })
    const url = `${world.home.platform.api_url}/v1/projects/streamed/runtime-logs`
    const open = async (with_: string) => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${with_}` } })
      expect(answer.status).toBe(200)
      let over = false
      return { ended: answer.text().finally(() => (over = true)), isOver: () => over, answer }
    }
    const [goes, stays] = [await open(revoked.token), await open(kept.token)]
    stays.ended.catch(() => {})
    await world.ask({ token }, 'DELETE', `/v1/tokens/${revoked.api_token.id}`)
    await world.home.advance(5_000)
    await goes.ended
    expect(stays.isOver()).toBe(false)
    await world.ask({ token }, 'DELETE', `/v1/tokens/${kept.api_token.id}`)
    await stays.ended
  })

  test('somebody else’s, a run’s and an unknown one are the same 404, and stay', async () => {
    const theirs = await make('stranger')
    const runToken = ledger((db) => db.prepare("SELECT id FROM tokens WHERE kind = 'run'").pluck().get() as string)
    const bodies = await Promise.all(
      [theirs.api_token.id, runToken, 'tok_00000000000000000000000000', '%00', "' OR 1=1 --"].map(async (id) => {
        const answer = await world.ask('owner', 'DELETE', `/v1/tokens/${encodeURIComponent(id)}`)
        expectRefusal(answer, 404, 'token_not_found')
        return JSON.stringify({ ...answer.body, request_id: '' })
      }),
    )
    expect(new Set(bodies).size).toBe(1)
    expectRefusal(await world.ask('member', 'DELETE', `/v1/tokens/${theirs.api_token.id}`), 404, 'token_not_found')
    expect((await world.ask({ token: theirs.token }, 'GET', '/v1/projects')).status).toBe(200)
    expect((await world.ask('owner', 'GET', '/v1/projects')).status).toBe(200)
  })
})

describe('whoever signs in', () => {
  test('an expired token is refused, and stays in the list', async () => {
    const { token, api_token } = await make('stranger', { name: 'old', expires_in_days: 1 })
    expect((await world.ask({ token }, 'GET', '/v1/projects')).status).toBe(200)
    const expires_at = new Date((await world.home.now()) - 1000).toISOString()
    ledger((db) => db.prepare('UPDATE tokens SET expires_at = ? WHERE id = ?').run(expires_at, api_token.id))
    // Written past the platform, whose own writes make it look again.
    await make('stranger', { name: 'a write' })
    expectRefusal(await world.ask({ token }, 'GET', '/v1/projects'), 401, 'unauthorized')
    expect((await listed('stranger')).find(({ id }) => id === api_token.id)?.expires_at).toBe(expires_at)
    expect((await world.ask('stranger', 'DELETE', `/v1/tokens/${api_token.id}`)).status).toBe(204)
  })

  test('a browser’s session makes, lists and revokes them too', async () => {
    const { body } = await world.ask('owner', 'POST', '/instance/sign-in-links')
    const answer = await fetch(body.url as string, { redirect: 'manual', headers: { accept: 'text/html' } })
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    const origin = world.home.platform.api_url
    const ask = (method: string, path: string, sent?: unknown) =>
      fetch(origin + path, {
        method,
        headers: { cookie, origin, 'content-type': 'application/json' },
        ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      })
    const made = await ask('POST', '/v1/tokens', { name: 'by browser' })
    expect(made.status).toBe(201)
    const { token, api_token } = (await made.json()) as Made
    expect((await world.ask({ token }, 'GET', '/v1/projects')).status).toBe(200)
    expect(((await (await ask('GET', '/v1/tokens')).json()) as { api_tokens: ApiToken[] }).api_tokens[0]?.id).toBe(api_token.id)
    expect((await ask('DELETE', `/v1/tokens/${api_token.id}`)).status).toBe(204)
    expectRefusal(await world.ask({ token }, 'GET', '/v1/projects'), 401, 'unauthorized')
  })

  test('what looks like a token but is none is 401', async () => {
    const { token } = await make('owner')
    const flipped = `${token.slice(0, 20)}${token[20] === 'a' ? 'b' : 'a'}${token.slice(21)}`
    const bad = [flipped, token.toLowerCase(), `${token}x`, token.slice(0, -1), token.replace('svc_', 'hpp_'), 'svc_', ' ']
    for (const header of [...bad.map((one) => `Bearer ${one}`), token, `Bearer  ${token}`, `Basic ${token}`, 'Bearer']) {
      const answer = await world.ask('nobody', 'GET', '/v1/projects', undefined, { authorization: header })
      expect([header, answer.status]).toEqual([header, 401])
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    expect((await world.ask('nobody', 'GET', '/v1/projects', undefined, { authorization: `bearer ${token}` })).status).toBe(200)
    expectRefusal(await world.ask('nobody', 'GET', `/v1/projects?token=${token}`), 401, 'unauthorized')
  })
})
