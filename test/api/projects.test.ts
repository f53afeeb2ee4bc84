import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { project as projectSchema } from '../../server/contract/projects.ts'
import { z } from 'zod'
import { badChanges } from './invalid-project-inputs.ts'
import { expectError, issuePaths, createApiContext, type ApiResponse, type ApiContext } from './api-context.ts'

let context: ApiContext
beforeAll(async () => {
  context = await createApiContext()
})
afterAll(() => context.close())

const create = (body: unknown, who: 'owner' | 'stranger' | 'instance_owner' | { token: string } = 'owner') =>
  context.request(who, 'POST', '/v1/projects', body)
const projectOf = (response: ApiResponse) => response.body.project as Record<string, unknown>

/** A project as in the customer's document: all fields, and no others. */
const exactly = z.strictObject(projectSchema.shape)

describe('POST /v1/projects', () => {
  test('201 with the whole project and its defaults', async () => {
    const response = await create({ name: 'My app', slug: 'my-app' })
    expect(response.status).toBe(201)
    expect(Object.keys(response.body)).toEqual(['project'])
    expect(exactly.parse(projectOf(response))).toMatchObject({
      id: expect.stringMatching(/^prj_[0-9a-z]{26}$/),
      name: 'My app',
      slug: 'my-app',
      repo_url: null,
      repo_branch: 'main',
      is_connected: false,
      node_version: 'auto',
      install_command: 'auto',
      build_command: 'auto',
      root_directory: '.',
      memory_limit_mb: 512,
      port: null,
      status: 'created',
      always_warm: false,
      is_cold: false,
      caching_enabled: true,
      has_purge_token: false,
      last_request_at: null,
    })
  })

  test('201 with a repository and a branch', async () => {
    const response = await create({ name: 'n', slug: 'with-repo', repo_url: 'https://git.example/me/app.git', repo_branch: 'feature/x' })
    expect(projectOf(response)).toMatchObject({ repo_url: 'https://git.example/me/app.git', repo_branch: 'feature/x', is_connected: true })
  })

  test('credentials in a URL are stored separately and never returned', async () => {
    const response = await create({ name: 'n', slug: 'with-secret', repo_url: 'https://me:hp-sentinel-pass@git.example/me/app.git' })
    expect(projectOf(response).repo_url).toBe('https://git.example/me/app.git')
    const shown = [
      response.text,
      (await context.request('owner', 'GET', '/v1/projects/with-secret')).text,
      (await context.request('owner', 'GET', '/v1/projects')).text,
      context.platform.log.join('\n'),
    ]
    expect(shown.join('\n')).not.toContain('hp-sentinel-pass')
  })

  const bad: [name: string, body: unknown, paths: string[]][] = [
    ['no name', { slug: 'abc' }, ['name']],
    ['no slug', { name: 'n' }, ['slug']],
    ['an empty name', { name: '', slug: 'abc' }, ['name']],
    ['a name of 201 characters', { name: 'x'.repeat(201), slug: 'abc' }, ['name']],
    ['a name that is not a string', { name: 1, slug: 'abc' }, ['name']],
    ['a slug of 2 characters', { name: 'n', slug: 'ab' }, ['slug']],
    ['a slug of 51 characters', { name: 'n', slug: 'a'.repeat(51) }, ['slug']],
    ['a slug with a capital', { name: 'n', slug: 'Abc' }, ['slug']],
    ['a slug with a dot', { name: 'n', slug: 'a.b' }, ['slug']],
    ['a slug that begins with a hyphen', { name: 'n', slug: '-abc' }, ['slug']],
    ['a slug that ends with a hyphen', { name: 'n', slug: 'abc-' }, ['slug']],
    ['a slug with a line break', { name: 'n', slug: 'abc\n' }, ['slug']],
    ['a slug in another script', { name: 'n', slug: 'аbс' }, ['slug']],
    ['another field', { name: 'n', slug: 'abc', status: 'live' }, ['status']],
    ['an address that is not a URL', { name: 'n', slug: 'abc', repo_url: 'not a uri' }, ['repo_url']],
    ['an address that is a git option', { name: 'n', slug: 'abc', repo_url: '--upload-pack=touch /tmp/x' }, ['repo_url']],
    ['ext::', { name: 'n', slug: 'abc', repo_url: 'ext::sh -c id' }, ['repo_url']],
    ['javascript:', { name: 'n', slug: 'abc', repo_url: 'javascript:alert(1)' }, ['repo_url']],
    ['no host', { name: 'n', slug: 'abc', repo_url: 'https://' }, ['repo_url']],
    ['null as address', { name: 'n', slug: 'abc', repo_url: null }, ['repo_url']],
    ['credentials with an invalid escape', { name: 'n', slug: 'abc', repo_url: 'https://%zz:x@git.example/a.git' }, ['repo_url']],
    ['a branch with a space', { name: 'n', slug: 'abc', repo_branch: 'a b' }, ['repo_branch']],
    ['a branch that is an option', { name: 'n', slug: 'abc', repo_branch: '--upload-pack=x' }, ['repo_branch']],
    ['a branch with two dots', { name: 'n', slug: 'abc', repo_branch: 'a..b' }, ['repo_branch']],
    ['a branch of 201 characters', { name: 'n', slug: 'abc', repo_branch: 'x'.repeat(201) }, ['repo_branch']],
  ]
  test.each(bad)('400 for %s', async (_name, body, paths) => {
    const response = await create(body)
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual(paths)
  })

  test('a local folder is for the instance owner only', async () => {
    expectError(await create({ name: 'n', slug: 'their-folder', repo_url: 'file:///etc' }, 'stranger'), 400, 'invalid_input')
    expect((await create({ name: 'n', slug: 'my-folder', repo_url: context.repository.url }, 'instance_owner')).status).toBe(201)
  })

  test.each([
    'v1',
    'www',
    'api',
    'app',
    'admin',
    'dashboard',
    'docs',
    'static',
    'assets',
    'auth',
    'hooks',
    'healthz',
    'openapi',
    'localhost',
    'homeport',
    'status',
    'mail',
    'ns1',
    'ns2',
    'xn--abc',
    'a--b',
  ])('%s is reserved', async (slug) => {
    const response = await create({ name: 'n', slug })
    // A slug of two letters is too short, which is checked before reserved names.
    if (slug.length < 3) expectError(response, 400, 'invalid_input')
    else expectError(response, 409, 'slug_reserved')
  })

  test('409 for a taken slug of any owner', async () => {
    expectError(await create({ name: 'n', slug: 'my-app' }), 409, 'slug_taken')
    expectError(await create({ name: 'n', slug: 'my-app' }, 'stranger'), 409, 'slug_taken')
  })

  test('of 20 concurrent requests for one slug exactly one succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ name: 'n', slug: 'race' })))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(19).fill(409)])
  })

  test('403 without a verified email, until it is verified', async () => {
    const person = await context.addPerson('unverified@example.com', { verified: false })
    expectError(await create({ name: 'n', slug: 'too-early' }, person), 403, 'email_not_verified')
    await context.request('instance_owner', 'POST', '/instance/users/unverified%40example.com/verify')
    expect((await create({ name: 'n', slug: 'too-early' }, person)).status).toBe(201)
  })

  test.each([
    ['starter', 3],
    ['basic', 10],
  ])('402 past the project limit of %s, also for concurrent requests', async (plan, cap) => {
    const person = await context.addPerson(`${plan}@example.com`, { plan })
    const answers = await Promise.all(Array.from({ length: cap + 3 }, (_, i) => create({ name: 'n', slug: `${plan}-${i}` }, person)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(cap)
    for (const response of answers) if (response.status !== 201) expectError(response, 402, 'plan_limit_reached')
    // The plan is checked before the slug, and after the input.
    expectError(await create({ name: 'n', slug: 'my-app' }, person), 402, 'plan_limit_reached')
    expectError(await create({ name: '', slug: 'my-app' }, person), 400, 'invalid_input')
    const taken = answers.findIndex(({ status }) => status === 201)
    expect((await context.request(person, 'DELETE', `/v1/projects/${plan}-${taken}`)).status).toBe(204)
    expect((await create({ name: 'n', slug: `${plan}-again` }, person)).status).toBe(201)
  })
})

describe('GET /v1/projects', () => {
  let person: { token: string }
  beforeAll(async () => {
    person = await context.addPerson('lists@example.com', { plan: 'enterprise' })
    for (let i = 0; i < 55; i++) await create({ name: `number ${i}`, slug: `list-${i}` }, person)
  })
  const page = async (query: string) => {
    const response = await context.request(person, 'GET', `/v1/projects${query}`)
    expect(response.status).toBe(200)
    expect(Object.keys(response.body).toSorted()).toEqual(['next_cursor', 'projects'])
    return { slugs: (response.body.projects as { slug: string }[]).map(({ slug }) => slug), next: response.body.next_cursor as string | null }
  }

  test('returns the newest 50 by default, and a null cursor at the end', async () => {
    const first = await page('')
    expect(first.slugs).toEqual(Array.from({ length: 50 }, (_, i) => `list-${54 - i}`))
    const second = await page(`?cursor=${first.next}`)
    expect([second.slugs, second.next]).toEqual([['list-4', 'list-3', 'list-2', 'list-1', 'list-0'], null])
  })

  test('lists every project exactly once while projects are added and deleted', async () => {
    const seen: string[] = []
    let cursor: string | null = ''
    for (let i = 0; cursor !== null; i++) {
      const { slugs, next } = await page(`?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...slugs)
      cursor = next
      if (i === 2) await create({ name: 'n', slug: 'in-between' }, person)
    }
    expect(seen).toEqual(Array.from({ length: 55 }, (_, i) => `list-${54 - i}`))
    await context.request(person, 'DELETE', '/v1/projects/in-between')
  })

  test('a full last page has no next page', async () => {
    expect((await page('?limit=55')).next).toBeNull()
    expect((await page('?limit=54')).next).not.toBeNull()
    expect((await page('?limit=1')).slugs).toEqual(['list-54'])
    expect((await page('?limit=100')).slugs).toHaveLength(55)
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'limit=1&limit=2', 'cursor=', 'cursor=garbage', 'cursor=czE%3D%3D%3D', `cursor=${'a'.repeat(501)}`])(
    '400 for %s',
    async (query) => {
      const response = await context.request(person, 'GET', `/v1/projects?${query}`)
      expectError(response, 400, 'invalid_input')
      expect(issuePaths(response)).toEqual([query.split('=')[0]])
    },
  )

  test('includes the projects of the caller’s teams, and no others', async () => {
    await create({ name: 'n', slug: 'of-the-owner' })
    await create({ name: 'n', slug: 'of-the-stranger' }, 'stranger')
    const slugs = async (who: 'owner' | 'member' | 'stranger') =>
      ((await context.request(who, 'GET', '/v1/projects?limit=100')).body.projects as { slug: string }[]).map(({ slug }) => slug)
    expect(await slugs('member')).toContain('of-the-owner')
    expect(await slugs('stranger')).toEqual(['of-the-stranger'])
    expect(await slugs('owner')).not.toContain('of-the-stranger')
    expect(await slugs('member')).not.toContain('of-the-stranger')
  })
})

describe('GET and PATCH /v1/projects/{slug}', () => {
  const patch = (body: unknown, slug = 'patched') => context.request('owner', 'PATCH', `/v1/projects/${slug}`, body)
  beforeAll(async () => {
    await create({ name: 'Before', slug: 'patched' })
  })

  test('200 with the project', async () => {
    const response = await context.request('owner', 'GET', '/v1/projects/patched')
    expect(response.status).toBe(200)
    expect(exactly.parse(projectOf(response)).slug).toBe('patched')
  })

  const good: Record<string, unknown>[] = [
    { name: 'After' },
    { repo_url: 'ssh://git@git.example/me/app.git' },
    { repo_url: null },
    { repo_branch: 'release/1.0' },
    { node_version: '22.11.0' },
    { node_version: '>=20 <25' },
    { install_command: 'npm ci --omit=dev && echo done' },
    { build_command: 'x'.repeat(500) },
    { root_directory: 'apps/web' },
    { root_directory: 'apps/../web/..' },
    { node_version: 'lts/krypton' },
    { node_version: '^20.1 || >=22.x <=24' },
    { node_version: 'v20.9.0 - 22' },
    { root_directory: 'apps/my.github' },
    { node_version: 'latest' },
    { node_version: '22.0.0-rc.1' },
    { memory_limit_mb: 64 },
    { memory_limit_mb: 1024 },
    { always_warm: true },
    { caching_enabled: false },
    { name: 'Two', always_warm: false },
  ]
  test.each(good)('200 for %j, which is stored', async (body) => {
    const response = await patch(body)
    expect(response.status).toBe(200)
    expect(projectOf(response)).toMatchObject(body)
    expect(projectOf(await context.request('owner', 'GET', '/v1/projects/patched'))).toEqual(projectOf(response))
  })

  test('200 for an empty change, which updates only the time', async () => {
    const before = projectOf(await context.request('owner', 'GET', '/v1/projects/patched'))
    expect({ ...projectOf(await patch({})), updated_at: before.updated_at }).toEqual(before)
  })

  test.each(badChanges)('400 for $body', async ({ body, field }) => {
    const before = (await context.request('owner', 'GET', '/v1/projects/patched')).text
    const response = await patch({ name: 'Not this', ...body })
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual([field])
    expect((await context.request('owner', 'GET', '/v1/projects/patched')).text).toBe(before)
  })

  test('memory is capped at the limit of the plan, and always_warm is 402 on starter', async () => {
    const person = await context.addPerson('small@example.com', { plan: 'starter' })
    expect(projectOf(await create({ name: 'n', slug: 'small' }, person)).memory_limit_mb).toBe(256)
    expect(projectOf(await context.request(person, 'PATCH', '/v1/projects/small', { memory_limit_mb: 1024 })).memory_limit_mb).toBe(256)
    const response = await context.request(person, 'PATCH', '/v1/projects/small', { always_warm: true, name: 'Not this' })
    expectError(response, 402, 'paid_plan_required')
    expect(projectOf(await context.request(person, 'GET', '/v1/projects/small'))).toMatchObject({ always_warm: false, name: 'n' })
    expect((await context.request(person, 'PATCH', '/v1/projects/small', { always_warm: false })).status).toBe(200)
  })

  test('a team member can change it', async () => {
    expect(projectOf(await context.request('member', 'PATCH', '/v1/projects/patched', { name: 'By the team' })).name).toBe('By the team')
  })

  test('404 for an unknown project', async () => {
    for (const slug of ['nope', 'Patched', 'prj_x', 'a'.repeat(500), '%F0%9F%92%A5', 'constructor', '__proto__']) {
      expectError(await context.request('owner', 'GET', `/v1/projects/${slug}`), 404, 'project_not_found')
    }
  })
})

describe('DELETE and stop', () => {
  test('204, then 404, and the slug is free again', async () => {
    await create({ name: 'n', slug: 'short-lived' })
    const response = await context.request('owner', 'DELETE', '/v1/projects/short-lived')
    expect([response.status, response.text]).toEqual([204, ''])
    expectError(await context.request('owner', 'GET', '/v1/projects/short-lived'), 404, 'project_not_found')
    expectError(await context.request('owner', 'DELETE', '/v1/projects/short-lived'), 404, 'project_not_found')
    expect((await create({ name: 'n', slug: 'short-lived' }, 'stranger')).status).toBe(201)
  })

  test('stop is 200 however often it is repeated', async () => {
    await create({ name: 'n', slug: 'stopped' })
    for (let i = 0; i < 3; i++) {
      const response = await context.request('owner', 'POST', '/v1/projects/stopped/stop')
      expect([response.status, response.body]).toEqual([200, { ok: true, status: 'inactive' }])
    }
    expect(projectOf(await context.request('owner', 'GET', '/v1/projects/stopped')).status).toBe('inactive')
  })
})

describe('GET /instance/projects', () => {
  const find = (q: string, who: 'owner' | 'stranger' = 'owner') => context.request(who, 'GET', `/instance/projects?q=${encodeURIComponent(q)}`)
  const slugs = (response: ApiResponse) => (response.body.projects as { slug: string }[]).map(({ slug }) => slug)

  test('matches every word in name, slug or repository, case-insensitively; newest first, with the total count', async () => {
    for (const [name, slug] of [
      ['Ångström Boats', 'sought-one'],
      ['Boats and ROPE', 'sought-two'],
    ])
      expect((await create({ name, slug, repo_url: 'https://git.example/quay/boats.git' })).status).toBe(201)
    expect(slugs(await find('boats sought'))).toEqual(['sought-two', 'sought-one'])
    expect(slugs(await find('ångström'))).toEqual(['sought-one'])
    expect(slugs(await find('QUAY rope'))).toEqual(['sought-two'])
    const none = await find('boats%')
    expect([slugs(none), none.body.count]).toEqual([[], 0])
    expect(none.body.total).toBeGreaterThanOrEqual(2)
  })

  test('finds no projects of other accounts and no deleted ones', async () => {
    expect((await create({ name: 'Gone boats', slug: 'sought-gone' })).status).toBe(201)
    expect((await context.request('owner', 'DELETE', '/v1/projects/sought-gone')).status).toBe(204)
    expect(slugs(await find('sought', 'stranger'))).toEqual([])
    expect(slugs(await find('sought'))).not.toContain('sought-gone')
  })

  test('400 for an empty query', async () => {
    expectError(await context.request('owner', 'GET', '/instance/projects?q='), 400, 'invalid_input')
  })
})
