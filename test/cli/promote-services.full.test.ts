import { describe, beforeAll, afterAll, expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import { manageServices, mariadbScript, plainAppFiles } from '../support/managed-app.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'

describe.skipIf(!requires('docker').ok || !requires('service-images').ok)('promotion with managed services on Docker', () => {
  let platform: TestPlatform
  let away: TestPlatform
  const repository = makeRepository(plainAppFiles)
  const run = (args: string[], remote_token?: string) =>
    runCommand(platform.handle.instance, '.', args, { ...(remote_token !== undefined && { remote_token }) })
  const redis = (of: TestPlatform, command: string) => manageServices(of, 'shop').run('redis', `redis-cli ${command}`)

  beforeAll(async () => {
    ;[platform, away] = await Promise.all([startTestPlatform({ runtime: 'docker' }), startTestPlatform({ runtime: 'docker' })])
    const { api_url, token } = away.handle.instance
    await run(['instances', 'add', api_url, 'Berth'], token)
    await platform.createProject({ slug: 'shop', repo_url: repository.url, previews: false })
    for (const name of ['redis', 'mariadb']) await platform.api('POST', '/instance/projects/shop/managed-services', { name })
    expect((await platform.waitForEnd('shop', (await platform.deploy('shop')).id)).error).toBeNull()
    await redis(platform, 'SET harbour lantern')
    await manageServices(platform, 'shop').run('mariadb', mariadbScript, "CREATE TABLE ships (name TEXT); INSERT INTO ships VALUES ('Ada');")
  })
  afterAll(async () => {
    await Promise.all([platform.remove(), away.remove()])
    repository.remove()
  })

  test('the target gets them before the deployment, with new passwords, and with their data if requested', async () => {
    const { code, out, err } = await run(['promote', 'shop', 'Berth', '--volumes', 'managed-redis', '--databases', 'mariadb'])
    expect([code, out], err).toEqual([0, expect.stringMatching(/^shop is live on Berth\.\n/)])
    expect(out).toMatch(/Redis: Added without data\.\n/)
    expect(out).toMatch(/Files of the volume managed-redis: \d+ files?\.\n/)
    expect(out).toMatch(/Data of MariaDB: Copied\.\n/)
    expect(await redis(away, 'GET harbour')).toBe('lantern\n')
    expect(await manageServices(away, 'shop').run('mariadb', mariadbScript, 'SELECT name FROM ships')).toBe('Ada\n')
    const [ours, theirs] = await Promise.all([manageServices(platform, 'shop').variables(), manageServices(away, 'shop').variables()])
    expect(theirs.REDIS_URL).toMatch(/^redis:\/\/:.+@redis:6379$/)
    expect(theirs.REDIS_PASSWORD).not.toBe(ours.REDIS_PASSWORD)
    const { body } = await away.api<{ deployments: unknown[] }>('GET', '/v1/projects/shop/deployments')
    expect(body.deployments).toHaveLength(1)
  })

  test('a second promotion keeps the data of the target', async () => {
    await redis(away, 'SET harbour rope')
    const { code, out, err } = await run(['promote', 'shop', 'Berth', '--volumes', 'all', '--databases', 'all'])
    expect(code, err).toBe(0)
    expect(out).toMatch(/Kept:\n(?: .*\n)*? {2}Files of the volume managed-redis: The volume on the other instance has files\./)
    expect(out).toMatch(/Data of MariaDB: The other instance already has a database\./)
    expect(await redis(away, 'GET harbour')).toBe('rope\n')
  })
})
