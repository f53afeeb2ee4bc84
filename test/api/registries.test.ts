import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiContext, expectError, type ApiContext } from './api-context.ts'

describe('registries of a project', () => {
  let context: ApiContext
  const path = '/instance/projects/harbour/registries'
  beforeAll(async () => {
    context = await createApiContext()
    await context.platform.createProject({ slug: 'harbour' })
  })
  afterAll(() => context.close())

  const add = (body: object) => context.request('owner', 'POST', path, body)
  const list = async () => (await context.request('owner', 'GET', path)).body

  test('are added under Docker’s name, replaced and removed; no response and no file contains the password', async () => {
    const password = 'a password that stays here'
    expect((await add({ host: 'https://index.docker.io/v1/', username: 'ada', password })).body).toMatchObject({
      registry: { host: 'docker.io', username: 'ada' },
    })
    await add({ host: 'Registry.example:5000', username: 'ada', password })
    expect((await add({ host: 'docker.io', username: 'grace', password: 'another' })).status).toBe(200)
    const listed = await list()
    expect(listed).toMatchObject({
      registries: [
        { host: 'docker.io', username: 'grace' },
        { host: 'registry.example:5000', username: 'ada' },
      ],
    })
    expect(JSON.stringify(listed)).not.toContain('pass')
    expect(context.platform.log.join('\n')).not.toContain(password)

    expect((await context.request('owner', 'DELETE', `${path}/registry.example%3A5000`)).body).toEqual({ ok: true })
    expectError(await context.request('owner', 'DELETE', `${path}/registry.example%3A5000`), 404, 'registry_not_found')
    expect((await list()).registries).toHaveLength(1)
  })

  test.each([
    { host: 'ghcr.io/team', username: 'a:b', password: 'x' },
    { host: 'two words', username: 'ada', password: 'x' },
    { host: 'user@ghcr.io', username: 'ada', password: 'x' },
    { host: 'ghcr.io', username: 'ada', password: '' },
    { host: 'ghcr.io', username: 'ada\nX: y', password: 'x' },
  ])('%j is refused', async (body) => {
    expectError(await add(body), 400, 'invalid_input')
  })
})
