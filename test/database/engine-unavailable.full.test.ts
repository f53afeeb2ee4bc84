import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import { createDockerFaultProxy, type DockerFaultProxy } from '../support/docker-fault-proxy.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { queryDatabase } from './guest-book-app.ts'

type Answer = { database: Database; error?: string; message?: string }

/** A proxy in front of the real engine, which can be closed and can hang. */
describe.skipIf(!requires('docker').ok)('databases while the engine is unavailable', () => {
  let faultProxy: DockerFaultProxy
  let platform: TestPlatform

  const ask = (method: string, slug: string) => platform.api<Answer>(method, `/v1/projects/${slug}/database`)
  /** The engine is available again: until it is found, requests are told to retry. */
  const askAgain = (method: string, slug: string) =>
    until(
      async () => {
        const response = await ask(method, slug)
        return response.status === 503 ? undefined : response
      },
      { what: 'the engine to be found' },
    )
  const away = { status: 503, body: { error: 'database_unavailable', message: expect.stringContaining('Start Docker, then try again.') } }

  beforeAll(async () => {
    faultProxy = createDockerFaultProxy()
    platform = await startTestPlatform({ runtime: 'docker', docker_candidates: [faultProxy.address] })
    for (const slug of ['early', 'late']) await platform.createProject({ slug })
  })
  afterAll(async () => {
    await faultProxy.close()
    await faultProxy.open()
    await platform.remove()
    await faultProxy.remove()
  })

  test('503 names Docker and what to do; leaves no partial state, and succeeds once the engine is back', async () => {
    expect(await ask('POST', 'early')).toMatchObject(away)
    expect(await ask('GET', 'early')).toMatchObject({ status: 404, body: { error: 'database_not_found' } })
    await faultProxy.open()
    expect((await askAgain('POST', 'early')).status).toBe(201)
    // The role and database of the failed attempt are cleaned up, and nothing of it is on the server.
    const { body } = await ask('GET', 'early')
    const roles = () => queryDatabase(body.database.connection_string, `SELECT 1 FROM pg_roles WHERE rolname LIKE 'p\\_%'`)
    await until(async () => ((await roles()).length === 1 ? true : undefined), { what: 'one role' })
  })

  test('503 for GET and DELETE while it is unavailable; the database keeps running, and responses resume once it is back', async () => {
    const before = (await ask('GET', 'early')).body.database
    await queryDatabase(before.connection_string, 'CREATE TABLE kept (a int)')
    await faultProxy.close()
    expect(await ask('GET', 'early')).toMatchObject(away)
    expect(await ask('DELETE', 'early')).toMatchObject(away)
    expect(await queryDatabase(before.connection_string, 'SELECT count(*) FROM kept')).toEqual([['0']])
    const { body } = await platform.api<{ checks: { name: string; status: string; hint: string | null }[] }>('GET', '/instance/doctor')
    expect(body.checks.find(({ name }) => name === 'databases docker')).toMatchObject({ status: 'warning', hint: expect.stringContaining('Docker') })
    await faultProxy.open()
    expect((await askAgain('GET', 'early')).body.database).toEqual({ ...before, size_bytes: expect.any(Number) })
  })

  test('a hanging engine does not block the response forever', async () => {
    faultProxy.hang()
    expect(await ask('GET', 'early')).toMatchObject(away)
    expect(await ask('POST', 'late')).toMatchObject(away)
    faultProxy.resume()
    expect((await askAgain('GET', 'early')).status).toBe(200)
    expect((await askAgain('POST', 'late')).status).toBe(201)
  })
})
