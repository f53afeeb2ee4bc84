import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Account, Settings, User } from '../../server/contract/instance.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { until } from '../support/platform.ts'
import { startDeployment, expectError, issuePaths, createApiContext, type ApiContext } from './api-context.ts'

let context: ApiContext
beforeAll(async () => {
  context = await createApiContext()
})
afterAll(() => context.close())

const json = { 'content-type': 'application/json' }

describe('the session', () => {
  test('returns the current user and instance', async () => {
    const { body } = await context.request('instance_owner', 'GET', '/instance/session')
    expect(body).toMatchObject({
      user: { is_instance_owner: true, email_verified: true },
      account: { plan: 'enterprise' },
      instance: {
        api_url: context.platform.handle.api_url,
        edge_url: context.platform.handle.edge_url,
        runtime: { name: 'process', reason: expect.any(String) },
        is_local: true,
      },
    })
    expect((await context.request('stranger', 'GET', '/instance/session')).body.user).toMatchObject({
      email: 'stranger@example.com',
      is_instance_owner: false,
    })
  })

  test('a sign-in link works once, for the user who requested it, and sign-out ends the session at once', async () => {
    const link = (await context.request('stranger', 'POST', '/instance/sign-in-links')).body as { url: string; expires_at: string }
    expect(Date.parse(link.expires_at)).toBeGreaterThan(await context.platform.now())
    const first = await fetch(link.url, { redirect: 'manual' })
    expect([first.status, first.headers.get('location')]).toEqual([303, '/app/'])
    expect((await fetch(link.url, { redirect: 'manual' })).status).toBe(401)

    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
    const own = { cookie, ...json, origin: context.platform.handle.api_url }
    const session = await context.request('anonymous', 'GET', '/instance/session', undefined, { cookie })
    expect(session.body.user).toMatchObject({ email: 'stranger@example.com' })
    expect((await context.request('anonymous', 'POST', '/v1/projects', { name: 'n', slug: 'by-cookie' }, own)).status).toBe(201)
    expectError(
      await context.request('anonymous', 'POST', '/v1/projects', { name: 'n', slug: 'by-evil' }, { ...own, origin: 'https://evil.example' }),
      403,
      'origin_not_allowed',
    )

    expect((await context.request('anonymous', 'POST', '/instance/sign-out', {}, own)).body).toEqual({ ok: true })
    expectError(await context.request('anonymous', 'GET', '/instance/session', undefined, { cookie }), 401, 'unauthorized')
    expect((await context.request('stranger', 'GET', '/instance/session')).status).toBe(200)
  })

  test('secrets are stored in plain text neither in the database nor in the log', async () => {
    const { url } = (await context.request('owner', 'POST', '/instance/sign-in-links')).body as { url: string }
    const code = new URL(url).searchParams.get('code') ?? ''
    expect(code.length).toBeGreaterThanOrEqual(43)
    const files = readdirSync(context.platform.data_dir).filter((name) => name.includes('.db'))
    const bytes = files.map((name) => readFileSync(join(context.platform.data_dir, name), 'latin1')).join('') + context.platform.log.join('')
    for (const secret of [code, context.tokens.owner ?? '', context.tokens.stranger ?? '']) expect(bytes.includes(secret)).toBe(false)
  })
})

describe('users', () => {
  test('are added once, with a token of their own', async () => {
    const person = await context.addPerson('Ann@Example.com', { plan: 'basic', card: true })
    expect(person).toMatchObject({
      user: { email: 'ann@example.com', email_verified: true, is_instance_owner: false },
      account: { plan: 'basic', has_payment_method: true },
    })
    expect(person.token).toMatch(/^svc_[0-9A-Za-z]{32,}$/)
    expectError(await context.request('instance_owner', 'POST', '/instance/users', { email: 'ann@example.com' }), 409, 'email_taken')
    const { users } = (await context.request('instance_owner', 'GET', '/instance/users')).body as { users: (User & { account: Account })[] }
    expect(users.find(({ email }) => email === 'ann@example.com')?.account.plan).toBe('basic')
  })

  test.each([
    [{}, 'email'],
    [{ email: 'x' }, 'email'],
    [{ email: 'a@b.example', plan: 'gold' }, 'plan'],
    [{ email: 'a@b.example', is_instance_owner: true }, 'is_instance_owner'],
  ])('400 for %j', async (body, path) => {
    const response = await context.request('instance_owner', 'POST', '/instance/users', body)
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual([path])
  })

  test('are deleted with their projects, and their token is 401 from then on', async () => {
    const person = await context.addPerson('leaves@example.com')
    await context.request(person, 'POST', '/v1/projects', { name: 'n', slug: 'left-behind' })
    expect((await context.request('instance_owner', 'DELETE', '/instance/users/leaves%40example.com')).status).toBe(204)
    expectError(await context.request(person, 'GET', '/v1/projects'), 401, 'unauthorized')
    expect((await context.request('owner', 'POST', '/v1/projects', { name: 'n', slug: 'left-behind' })).status).toBe(201)
    expectError(await context.request('instance_owner', 'DELETE', '/instance/users/leaves%40example.com'), 404, 'user_not_found')
    expectError(await context.request('instance_owner', 'POST', '/instance/users/nobody%40example.com/verify'), 404, 'user_not_found')
  })

  test('the owner cannot be deleted', async () => {
    const { email } = (await context.request('instance_owner', 'GET', '/instance/session')).body.user as User
    expectError(await context.request('instance_owner', 'DELETE', `/instance/users/${encodeURIComponent(email)}`), 403, 'forbidden')
    expect((await context.request('instance_owner', 'GET', '/instance/session')).status).toBe(200)
  })

  test('open streams of a deleted user close within 5 s', async () => {
    const person = await context.addPerson('streams@example.com')
    await context.request(person, 'POST', '/v1/projects', { name: 'n', slug: 'their-stream' })
    const response = await fetch(`${context.platform.handle.api_url}/v1/projects/their-stream/runtime-logs`, {
      headers: { authorization: `Bearer ${person.token}` },
    })
    const ended = response.text()
    await context.request('instance_owner', 'DELETE', '/instance/users/streams%40example.com')
    await context.platform.advance(5_000)
    await ended
  })
})

describe('settings', () => {
  test('are read, changed one by one, and take effect at once', async () => {
    const { settings } = (await context.request('instance_owner', 'GET', '/instance/settings')).body as { settings: Settings }
    expect(settings).toMatchObject({ on_exit: 'default', plan: 'enterprise' })
    const changed = (await context.request('instance_owner', 'PATCH', '/instance/settings', { keep_deployments: 7 })).body.settings
    expect(changed).toEqual({ ...settings, keep_deployments: 7 })
    expect((await context.request('instance_owner', 'GET', '/instance/settings')).body.settings).toEqual(changed)
    await context.request('instance_owner', 'PATCH', '/instance/settings', { keep_deployments: settings.keep_deployments })
  })

  test('emulate every plan, an unverified email and a missing card', async () => {
    await context.request('instance_owner', 'PATCH', '/instance/settings', { plan: 'starter', email_verified: false, payment_method: false })
    expect((await context.request('instance_owner', 'GET', '/instance/session')).body).toMatchObject({
      user: { email_verified: false },
      account: { plan: 'starter', has_payment_method: false },
    })
    expectError(await context.request('instance_owner', 'POST', '/v1/projects', { name: 'n', slug: 'emulated' }), 403, 'email_not_verified')
    await context.request('instance_owner', 'PATCH', '/instance/settings', { plan: 'enterprise', email_verified: true, payment_method: true })
    expect((await context.request('instance_owner', 'POST', '/v1/projects', { name: 'n', slug: 'emulated' })).status).toBe(201)
  })

  test.each([
    [{ build_concurrency: 0 }, 'build_concurrency'],
    [{ unknown: 1 }, 'unknown'],
    [{ plan: 'gold' }, 'plan'],
    [{ rate_limit_anonymous: 0 }, 'rate_limit_anonymous'],
  ])('400 for %j', async (body, path) => {
    const response = await context.request('instance_owner', 'PATCH', '/instance/settings', body)
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual([path])
  })

  test('the limits of the contract are the default', async () => {
    // Requests of other files as this owner within the last minute no longer count.
    await context.platform.advance(61_000)
    await context.request('instance_owner', 'PATCH', '/instance/settings', { rate_limit_authenticated: 300, rate_limit_anonymous: 30 })
    const person = await context.addPerson('limited@example.com')
    const statuses: number[] = []
    for (let i = 0; i < 301; i++) statuses.push((await context.request(person, 'GET', '/v1/projects?limit=1')).status)
    expect(statuses.indexOf(429)).toBe(300)
    await context.request('instance_owner', 'PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, rate_limit_anonymous: 1_000_000 })
    expect((await context.request(person, 'GET', '/v1/projects')).status).toBe(200)
  })
})

describe('a local folder', () => {
  test('is deployed with its working tree, and its project is created', async () => {
    const repository = makeRepository(tinyServer('committed'))
    writeFileSync(`${repository.folder}/server.js`, tinyServer('uncommitted')['server.js'] ?? '')
    const response = await context.request('instance_owner', 'POST', '/instance/deploy-folder', {
      path: repository.folder,
      slug: 'from-folder',
      name: 'From a folder',
    })
    expect(response.status).toBe(201)
    const { project, deployment } = response.body as { project: { id: string; slug: string; name: string }; deployment: { id: string } }
    expect(project).toMatchObject({ slug: 'from-folder', name: 'From a folder' })
    expect(await context.platform.waitForEnd('from-folder', deployment.id)).toMatchObject({
      status: 'ready',
      source: 'folder',
      is_dirty: true,
      commit_sha: expect.stringMatching(/^[0-9a-f]{40}$/),
    })
    expect((await context.platform.fetchEdge('from-folder.localhost')).body).toBe('uncommitted')
    const again = await context.request('instance_owner', 'POST', '/instance/deploy-folder', { path: repository.folder, slug: 'from-folder' })
    expect((again.body.project as { id: string }).id).toBe(project.id)
    await context.platform.waitForEnd('from-folder', (again.body.deployment as { id: string }).id)
    repository.remove()
  })

  test.each(['relative', '/there/is/no/such/folder', '/etc/passwd', '/tmp/\u0000'])('400 for %j', async (path) => {
    const response = await context.request('instance_owner', 'POST', '/instance/deploy-folder', { path })
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual(['path'])
  })

  test('409 for a slug of another account', async () => {
    await context.request('stranger', 'POST', '/v1/projects', { name: 'n', slug: 'not-yours' })
    expectError(
      await context.request('instance_owner', 'POST', '/instance/deploy-folder', { path: context.repository.folder, slug: 'not-yours' }),
      409,
      'slug_taken',
    )
  })
})

describe('the event stream of the instance', () => {
  test('reports every project that the caller can see, and no other', async () => {
    const controller = new AbortController()
    const response = await fetch(`${context.platform.handle.api_url}/instance/events`, {
      headers: { authorization: `Bearer ${context.tokens.member}` },
      signal: controller.signal,
    })
    let text = ''
    const reading = (async () => {
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece
    })().catch(() => {})
    await context.request('stranger', 'POST', '/v1/projects', { name: 'n', slug: 'not-for-you' })
    const { id } = await startDeployment(context, 'for-you')
    await context.platform.waitForEnd('for-you', id)
    await context.request('owner', 'DELETE', '/v1/projects/for-you')
    await until(() => (text.includes('event: project_removed') ? true : undefined), { what: 'the removal' })
    controller.abort()
    await reading
    expect(text).toContain('"slug":"for-you"')
    expect(text).toMatch(/event: deployment\ndata: \{"deployment":\{"id":"dpl_/)
    expect(text).not.toContain('not-for-you')
  })
})

describe('the doctor and health', () => {
  test('report their checks, each with a fix', async () => {
    const { checks } = (await context.request('instance_owner', 'GET', '/instance/doctor')).body as {
      checks: { name: string; status: string; message: string; hint: string | null }[]
    }
    expect(checks.length).toBeGreaterThan(4)
    for (const check of checks) expect(check.status === 'ok' || check.hint !== null).toBe(true)
    const quick = (await context.request('instance_owner', 'GET', '/instance/doctor?quick=true')).body as { checks: { name: string }[] }
    expect(quick.checks.map(({ name }) => name)).toEqual(expect.arrayContaining(['port api', 'port edge', 'disk', 'backups', 'encryption']))
    expect(quick.checks.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['git']))
    expectError(await context.request('member', 'GET', '/instance/doctor?quick=true'), 403, 'forbidden')
    expect((await context.request('anonymous', 'GET', '/healthz')).body).toMatchObject({
      status: 'ok',
      version: '0.1.0',
      runtime: { name: 'process' },
      uptime_s: expect.any(Number),
      checks: { database: 'ok' },
    })
  })
})
