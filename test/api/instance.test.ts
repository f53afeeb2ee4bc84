import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Account, Settings, User } from '../../server/contract/instance.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { until } from '../support/platform.ts'
import { deployed, expectRefusal, faults, startWorld } from './world.ts'
import type { World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const json = { 'content-type': 'application/json' }

describe('the session', () => {
  test('tells who I am and where I am', async () => {
    const { body } = await world.ask('instance_owner', 'GET', '/instance/session')
    expect(body).toMatchObject({
      user: { is_instance_owner: true, email_verified: true },
      account: { plan: 'enterprise' },
      instance: {
        api_url: world.home.platform.api_url,
        edge_url: world.home.platform.edge_url,
        runtime: { name: 'process', reason: expect.any(String) },
        is_local: true,
      },
    })
    expect((await world.ask('stranger', 'GET', '/instance/session')).body.user).toMatchObject({
      email: 'stranger@example.com',
      is_instance_owner: false,
    })
  })

  test('a sign-in link works once, for who asked for it, and sign-out ends the session at once', async () => {
    const link = (await world.ask('stranger', 'POST', '/instance/sign-in-links')).body as { url: string; expires_at: string }
    expect(Date.parse(link.expires_at)).toBeGreaterThan(await world.home.now())
    const first = await fetch(link.url, { redirect: 'manual' })
    expect([first.status, first.headers.get('location')]).toEqual([303, '/app/'])
    expect((await fetch(link.url, { redirect: 'manual' })).status).toBe(401)

    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
    const own = { cookie, ...json, origin: world.home.platform.api_url }
    const session = await world.ask('nobody', 'GET', '/instance/session', undefined, { cookie })
    expect(session.body.user).toMatchObject({ email: 'stranger@example.com' })
    expect((await world.ask('nobody', 'POST', '/v1/projects', { name: 'n', slug: 'by-cookie' }, own)).status).toBe(201)
    expectRefusal(
      await world.ask('nobody', 'POST', '/v1/projects', { name: 'n', slug: 'by-evil' }, { ...own, origin: 'https://evil.example' }),
      403,
      'origin_not_allowed',
    )

    expect((await world.ask('nobody', 'POST', '/instance/sign-out', {}, own)).body).toEqual({ ok: true })
    expectRefusal(await world.ask('nobody', 'GET', '/instance/session', undefined, { cookie }), 401, 'unauthorized')
    expect((await world.ask('stranger', 'GET', '/instance/session')).status).toBe(200)
  })

  test('secrets are nowhere in the database or the log as they are', async () => {
    const { url } = (await world.ask('owner', 'POST', '/instance/sign-in-links')).body as { url: string }
    const code = new URL(url).searchParams.get('code') ?? ''
    expect(code.length).toBeGreaterThanOrEqual(43)
    const files = readdirSync(world.home.data_dir).filter((name) => name.includes('.db'))
    const bytes = files.map((name) => readFileSync(join(world.home.data_dir, name), 'latin1')).join('') + world.home.log.join('')
    for (const secret of [code, world.tokens.owner ?? '', world.tokens.stranger ?? '']) expect(bytes.includes(secret)).toBe(false)
  })
})

describe('people', () => {
  test('are added once, with a token of their own', async () => {
    const person = await world.add('Ann@Example.com', { plan: 'basic', card: true })
    expect(person).toMatchObject({
      user: { email: 'ann@example.com', email_verified: true, is_instance_owner: false },
      account: { plan: 'basic', has_payment_method: true },
    })
    expect(person.token).toMatch(/^svc_[0-9A-Za-z]{32,}$/)
    expectRefusal(await world.ask('instance_owner', 'POST', '/instance/users', { email: 'ann@example.com' }), 409, 'email_taken')
    const { users } = (await world.ask('instance_owner', 'GET', '/instance/users')).body as { users: (User & { account: Account })[] }
    expect(users.find(({ email }) => email === 'ann@example.com')?.account.plan).toBe('basic')
  })

  test.each([
    [{}, 'email'],
    [{ email: 'x' }, 'email'],
    [{ email: 'a@b.example', plan: 'gold' }, 'plan'],
    [{ email: 'a@b.example', is_instance_owner: true }, 'is_instance_owner'],
  ])('400 for %j', async (body, path) => {
    const answer = await world.ask('instance_owner', 'POST', '/instance/users', body)
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual([path])
  })

  test('leave with their projects; their token is 401 from then on', async () => {
    const person = await world.add('leaves@example.com')
    await world.ask(person, 'POST', '/v1/projects', { name: 'n', slug: 'left-behind' })
    expect((await world.ask('instance_owner', 'DELETE', '/instance/users/leaves%40example.com')).status).toBe(204)
    expectRefusal(await world.ask(person, 'GET', '/v1/projects'), 401, 'unauthorized')
    expect((await world.ask('owner', 'POST', '/v1/projects', { name: 'n', slug: 'left-behind' })).status).toBe(201)
    expectRefusal(await world.ask('instance_owner', 'DELETE', '/instance/users/leaves%40example.com'), 404, 'user_not_found')
    expectRefusal(await world.ask('instance_owner', 'POST', '/instance/users/nobody%40example.com/verify'), 404, 'user_not_found')
  })

  test('the owner stays', async () => {
    const { email } = (await world.ask('instance_owner', 'GET', '/instance/session')).body.user as User
    expectRefusal(await world.ask('instance_owner', 'DELETE', `/instance/users/${encodeURIComponent(email)}`), 403, 'forbidden')
    expect((await world.ask('instance_owner', 'GET', '/instance/session')).status).toBe(200)
  })

  test('open streams of who left close within 5 s', async () => {
    const person = await world.add('streams@example.com')
    await world.ask(person, 'POST', '/v1/projects', { name: 'n', slug: 'their-stream' })
    const answer = await fetch(`${world.home.platform.api_url}/v1/projects/their-stream/runtime-logs`, {
      headers: { authorization: `Bearer ${person.token}` },
    })
    const ended = answer.text()
    await world.ask('instance_owner', 'DELETE', '/instance/users/streams%40example.com')
    await world.home.advance(5_000)
    await ended
  })
})

describe('settings', () => {
  test('are read, changed one by one, and hold at once', async () => {
    const { settings } = (await world.ask('instance_owner', 'GET', '/instance/settings')).body as { settings: Settings }
    expect(settings).toMatchObject({ on_exit: 'default', plan: 'enterprise' })
    const changed = (await world.ask('instance_owner', 'PATCH', '/instance/settings', { keep_deployments: 7 })).body.settings
    expect(changed).toEqual({ ...settings, keep_deployments: 7 })
    expect((await world.ask('instance_owner', 'GET', '/instance/settings')).body.settings).toEqual(changed)
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { keep_deployments: settings.keep_deployments })
  })

  test('emulate every plan, an unverified email and a missing card', async () => {
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { plan: 'starter', email_verified: false, payment_method: false })
    expect((await world.ask('instance_owner', 'GET', '/instance/session')).body).toMatchObject({
      user: { email_verified: false },
      account: { plan: 'starter', has_payment_method: false },
    })
    expectRefusal(await world.ask('instance_owner', 'POST', '/v1/projects', { name: 'n', slug: 'emulated' }), 403, 'email_not_verified')
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { plan: 'enterprise', email_verified: true, payment_method: true })
    expect((await world.ask('instance_owner', 'POST', '/v1/projects', { name: 'n', slug: 'emulated' })).status).toBe(201)
  })

  test.each([
    [{ build_concurrency: 0 }, 'build_concurrency'],
    [{ unknown: 1 }, 'unknown'],
    [{ plan: 'gold' }, 'plan'],
    [{ rate_limit_anonymous: 0 }, 'rate_limit_anonymous'],
  ])('400 for %j', async (body, path) => {
    const answer = await world.ask('instance_owner', 'PATCH', '/instance/settings', body)
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual([path])
  })

  test('the limits that the contract names hold when nothing is set otherwise', async () => {
    // What other files asked as this owner within the last minute counts no more.
    await world.home.advance(61_000)
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { rate_limit_authenticated: 300, rate_limit_anonymous: 30 })
    const person = await world.add('limited@example.com')
    const statuses: number[] = []
    for (let i = 0; i < 301; i++) statuses.push((await world.ask(person, 'GET', '/v1/projects?limit=1')).status)
    expect(statuses.indexOf(429)).toBe(300)
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, rate_limit_anonymous: 1_000_000 })
    expect((await world.ask(person, 'GET', '/v1/projects')).status).toBe(200)
  })
})

describe('a folder of this machine', () => {
  test('is deployed with its working tree, and makes its project', async () => {
    const repository = makeRepository(tinyServer('committed'))
    writeFileSync(`${repository.folder}/server.js`, tinyServer('uncommitted')['server.js'] ?? '')
    const answer = await world.ask('instance_owner', 'POST', '/instance/deploy-folder', {
      path: repository.folder,
      slug: 'from-folder',
      name: 'From a folder',
    })
    expect(answer.status).toBe(201)
    const { project, deployment } = answer.body as { project: { id: string; slug: string; name: string }; deployment: { id: string } }
    expect(project).toMatchObject({ slug: 'from-folder', name: 'From a folder' })
    expect(await world.home.ended('from-folder', deployment.id)).toMatchObject({
      status: 'ready',
      source: 'folder',
      is_dirty: true,
      commit_sha: expect.stringMatching(/^[0-9a-f]{40}$/),
    })
    expect((await world.home.edge('from-folder.localhost')).body).toBe('uncommitted')
    const again = await world.ask('instance_owner', 'POST', '/instance/deploy-folder', { path: repository.folder, slug: 'from-folder' })
    expect((again.body.project as { id: string }).id).toBe(project.id)
    await world.home.ended('from-folder', (again.body.deployment as { id: string }).id)
    repository.remove()
  })

  test.each(['relative', '/there/is/no/such/folder', '/etc/passwd', '/tmp/\u0000'])('400 for %j', async (path) => {
    const answer = await world.ask('instance_owner', 'POST', '/instance/deploy-folder', { path })
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual(['path'])
  })

  test('409 for a slug of somebody else', async () => {
    await world.ask('stranger', 'POST', '/v1/projects', { name: 'n', slug: 'not-yours' })
    expectRefusal(
      await world.ask('instance_owner', 'POST', '/instance/deploy-folder', { path: world.repository.folder, slug: 'not-yours' }),
      409,
      'slug_taken',
    )
  })
})

describe('the stream of the instance', () => {
  test('tells of every project that I may see, and of no other', async () => {
    const controller = new AbortController()
    const answer = await fetch(`${world.home.platform.api_url}/instance/events`, {
      headers: { authorization: `Bearer ${world.tokens.member}` },
      signal: controller.signal,
    })
    let text = ''
    const reading = (async () => {
      for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece
    })().catch(() => {})
    await world.ask('stranger', 'POST', '/v1/projects', { name: 'n', slug: 'not-for-you' })
    const { id } = await deployed(world, 'for-you')
    await world.home.ended('for-you', id)
    await world.ask('owner', 'DELETE', '/v1/projects/for-you')
    await until(() => (text.includes('event: project_removed') ? true : undefined), { what: 'the removal' })
    controller.abort()
    await reading
    expect(text).toContain('"slug":"for-you"')
    expect(text).toMatch(/event: deployment\ndata: \{"deployment":\{"id":"dpl_/)
    expect(text).not.toContain('not-for-you')
  })
})

describe('the doctor and health', () => {
  test('say how things are, each with a mend', async () => {
    const { checks } = (await world.ask('instance_owner', 'GET', '/instance/doctor')).body as {
      checks: { name: string; status: string; message: string; mend: string | null }[]
    }
    expect(checks.length).toBeGreaterThan(4)
    for (const check of checks) expect(check.status === 'ok' || check.mend !== null).toBe(true)
    const quick = (await world.ask('instance_owner', 'GET', '/instance/doctor?quick=true')).body as { checks: { name: string }[] }
    expect(quick.checks.map(({ name }) => name)).toEqual(expect.arrayContaining(['port api', 'port edge', 'disk', 'backups', 'encryption']))
    expect(quick.checks.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['git']))
    expectRefusal(await world.ask('member', 'GET', '/instance/doctor?quick=true'), 403, 'forbidden')
    expect((await world.ask('nobody', 'GET', '/healthz')).body).toMatchObject({
      status: 'ok',
      version: '0.1.0',
      runtime: { name: 'process' },
      uptime_s: expect.any(Number),
      checks: { database: 'ok' },
    })
  })
})
