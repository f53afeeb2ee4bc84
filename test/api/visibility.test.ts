import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allOperations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { until } from '../support/until.ts'
import { deployed, expectRefusal, startWorld } from './world.ts'
import type { Answer, Who, World } from './world.ts'

/*
 * Who may see what. A stranger cannot tell a project that is there from one that is not: every operation, at its path and at
 * its alias, with good and bad input, answers the same to the byte, the request id aside.
 */

let world: World
/** A deployment of `seen`, the owner's project, and one of `other`, another project of the owner. */
let seen: string
let other: string
let theirs: string

beforeAll(async () => {
  world = await startWorld()
  seen = (await deployed(world, 'seen')).id
  other = (await deployed(world, 'other')).id
  await world.home.ended('seen', seen)
  await world.home.ended('other', other)
  await world.ask('stranger', 'POST', '/v1/projects', { name: 'n', slug: 'strange', repo_url: 'https://git.invalid/a.git' })
  theirs = ((await world.ask('stranger', 'POST', '/v1/projects/strange/deploy')).body.deployment_id as string) ?? ''
})
afterAll(() => world.close())

const operations = (Object.entries(allOperations) as [string, OperationSpec][]).filter(([, spec]) => spec.path.includes('{slug}'))
const withDeployment = operations.filter(([, spec]) => spec.path.includes('{id}'))
/** What the operation says of an id that it does not know. */
const unknownOf = (spec: OperationSpec) => spec.errors.find((code) => code.endsWith('_not_found') && code !== 'project_not_found') ?? ''
const fill = (path: string, slug: string, id: string) => path.replace('{slug}', slug).replace('{id}', id)
const bothPaths = (path: string) => [path, path.replace(/^\/v1/, '')]

/** All of an answer but what is new in every one. */
function comparable(answer: Answer, slug: string) {
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => !['x-request-id', 'date', 'x-ratelimit-remaining', 'x-ratelimit-reset'].includes(name)),
  )
  if (headers.link) headers.link = headers.link.replaceAll(slug, 'SLUG')
  return { status: answer.status, headers, body: answer.text.replaceAll(answer.headers.get('x-request-id') ?? '', 'ID') }
}

/** Requests that are good, bad and broken: none of them may tell a stranger more than the others. */
const inputs: { body?: unknown; headers?: Record<string, string>; query?: string }[] = [
  {},
  { body: {} },
  { body: { unknown_field: 1 } },
  { body: 'not json' },
  { body: 'text', headers: { 'content-type': 'text/plain' } },
  { query: '?limit=0&lines=1&limit=9' },
]

describe('a stranger', () => {
  test.each(operations)('%s: a project that is not theirs is one that does not exist', async (_id, spec) => {
    for (const path of bothPaths(spec.path)) {
      for (const { body, headers, query = '' } of inputs) {
        if (body !== undefined && spec.method === 'GET') continue
        const ask = (slug: string, id: string) => world.ask('stranger', spec.method, fill(path, slug, id) + query, body, headers)
        const hidden = await ask('seen', seen)
        const missing = await ask('none', seen)
        expectRefusal(hidden, 404, 'project_not_found')
        expect(comparable(hidden, 'seen')).toEqual(comparable(missing, 'none'))
      }
    }
  })

  test.each(withDeployment)('%s: an id of another project under one’s own slug is one that does not exist', async (_id, spec) => {
    for (const path of bothPaths(spec.path)) {
      const ask = (id: string) => world.ask('stranger', spec.method, fill(path, 'strange', id))
      const foreign = await ask(seen)
      const missing = await ask('dpl_00000000000000000000000000')
      expectRefusal(foreign, 404, unknownOf(spec))
      expect(comparable(foreign, seen)).toEqual({ ...comparable(missing, ''), headers: expect.anything() })
      expect(comparable(foreign, '').body).toBe(comparable(missing, '').body)
    }
  })

  test('changed nothing', async () => {
    const project = await world.home.project('seen')
    expect(project).toMatchObject({ status: 'live', name: 'seen', repo_url: world.repository.url })
    const { deployments } = (await world.ask('owner', 'GET', '/v1/projects/seen/deployments')).body as { deployments: { id: string }[] }
    expect(deployments.map(({ id }) => id)).toEqual([seen])
    expect((await world.home.edge('seen.localhost')).body).toBe('one')
    // That was a visit: it is noted within a second, and nobody shall see the project change after that.
    await until(async () => (await world.home.project('seen')).last_request_at ?? undefined, { what: 'the visit to be noted' })
  })

  test('sees nothing of it in a list', async () => {
    const list = await world.ask('stranger', 'GET', '/v1/projects?limit=100')
    expect(list.text).not.toContain('seen')
    expect((list.body.projects as { slug: string }[]).map(({ slug }) => slug)).toEqual(['strange'])
  })
})

describe('the owner of the instance', () => {
  test.each(withDeployment)('%s: an id of another project of one’s own is unknown under this slug', async (_id, spec) => {
    expectRefusal(await world.ask('owner', spec.method, fill(spec.path, 'seen', other)), 404, unknownOf(spec))
  })
  test.each(operations)('%s: sees no project of others either', async (_id, spec) => {
    expectRefusal(await world.ask('owner', spec.method, fill(spec.path, 'strange', theirs)), 404, 'project_not_found')
  })
})

describe('somebody without a credential that holds', () => {
  test.each(Object.entries(allOperations) as [string, OperationSpec][])('%s is 401, whether the project is there or not', async (_id, spec) => {
    for (const path of spec.path.startsWith('/v1') ? bothPaths(spec.path) : [spec.path]) {
      for (const who of ['nobody', 'gone', { token: 'svc_wrong' }] as const) {
        const there = await world.ask(who, spec.method, fill(path, 'seen', seen))
        const missing = await world.ask(who, spec.method, fill(path, 'none', seen))
        expectRefusal(there, 401, 'unauthorized')
        expect(there.headers.get('www-authenticate')).toBe('Bearer')
        expect(comparable(there, 'seen')).toEqual(comparable(missing, 'none'))
      }
    }
  })
})

describe('a member of the team', () => {
  // Only now: to have one changes the project, and what was deployed of it.
  beforeAll(async () => {
    const { body } = await world.ask('owner', 'POST', '/v1/projects/seen/database')
    await world.home.ended('seen', String(body.deployment_id))
  })

  const reads = operations.filter(([, spec]) => spec.method === 'GET' && 'json' in spec.success)
  test.each(reads)('%s: gets what the owner gets, at both paths', async (_id, spec) => {
    for (const path of bothPaths(spec.path)) {
      const look = (who: Who) => world.ask(who, 'GET', fill(path, 'seen', seen))
      // Some of it changes by itself (what the app uses, when its repository was looked at): asked between two looks that are the same.
      const { mine, owners } = await until(
        async () => {
          const [before, asked, after] = [await look('owner'), await look('member'), await look('owner')]
          return isDeepStrictEqual(before.body, after.body) ? { mine: asked, owners: after } : undefined
        },
        { what: 'two looks that are the same' },
      )
      expect(mine.status).toBe(200)
      expect(mine.body).toEqual(owners.body)
    }
  })

  test('may deploy, and is a stranger again once taken out', async () => {
    const { email } = (await world.ask('owner', 'GET', '/instance/session')).body.user as { email: string }
    const team = { owner_email: email, member_email: 'member@example.com' }
    expect((await world.ask('member', 'POST', '/v1/projects/other/deploy')).status).toBe(201)
    expect((await world.ask('owner', 'POST', '/instance/team/remove', team)).status).toBe(200)
    const after = await world.ask('member', 'GET', '/v1/projects/seen')
    expect(comparable(after, 'seen')).toEqual(comparable(await world.ask('member', 'GET', '/v1/projects/none'), 'none'))
    await world.ask('owner', 'POST', '/instance/team', team)
    expect((await world.ask('member', 'GET', '/v1/projects/seen')).status).toBe(200)
  })
})

describe('what is of the instance', () => {
  test.each((Object.entries(allOperations) as [string, OperationSpec][]).filter(([, spec]) => spec.access === 'owner'))(
    '%s is the owner’s alone',
    async (_id, spec) => {
      for (const who of ['member', 'stranger'] as const) {
        expectRefusal(
          await world.ask(who, spec.method, spec.path.replace('{email}', 'stranger%40example.com'), spec.body ? {} : undefined),
          403,
          'forbidden',
        )
      }
    },
  )
})
