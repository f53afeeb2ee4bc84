import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DiskUsage } from '../../server/contract/maintenance.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'

type Settings = Parameters<typeof startTestPlatform>[0]

/**
 * A platform is killed, and starts with a copy of its database from before the deployment that is live. `readSettings` is called before the first
 * start; `isRunning`: whether a replica of a deployment still runs.
 */
export function quarantineSuite(
  readSettings: () => Promise<Settings> | Settings,
  isRunning: (deploymentId: string, platform: TestPlatform) => Promise<boolean>,
): void {
  let settings: Settings
  let data_dir: string
  let copy: string
  let repository: Repository
  let platform: TestPlatform
  let unknownId: string
  const unknownChecks = async () =>
    (await platform.api<{ checks: { name: string; message: string }[] }>('GET', '/instance/doctor')).body.checks.filter(
      ({ name }) => name === 'unknown apps',
    )
  const usage = async () =>
    (await platform.api<{ kinds: DiskUsage[] }>('GET', '/instance/disk')).body.kinds.filter(({ kind }) => kind === 'unknown_apps')
  const deploy = async () => {
    const { id } = await platform.deploy('shop')
    expect((await platform.waitForEnd('shop', id)).status).toBe('ready')
    return id
  }
  const isBodyServed = (body: string) =>
    until(async () => (await platform.fetchEdge('shop.localhost')).body === body || undefined, { what: `the app to answer ${body}` })

  beforeAll(async () => {
    settings = await readSettings()
    data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
    copy = mkdtempSync(join(tmpdir(), 'homeport-copy-'))
    repository = makeRepository(tinyServer('older'))
    platform = await startTestPlatform({ ...settings, data_dir })
    await platform.createProject({ slug: 'shop', repo_url: repository.url })
    await deploy()
    await platform.handle.stop()
    cpSync(join(data_dir, 'homeport.db'), join(copy, 'homeport.db'))

    platform = await startTestPlatform({ ...settings, data_dir })
    repository.commit(tinyServer('newer'))
    unknownId = await deploy()
    await isBodyServed('newer')
    await platform.kill()
    for (const name of readdirSync(data_dir)) if (name.startsWith('homeport.db')) rmSync(join(data_dir, name))
    cpSync(join(copy, 'homeport.db'), join(data_dir, 'homeport.db'))
    platform = await startTestPlatform({ ...settings, data_dir })
  }, 240_000)
  afterAll(async () => {
    await platform.remove()
    repository.remove()
    rmSync(copy, { recursive: true, force: true })
  }, 120_000)

  test('what the older database does not know keeps running, while it restores what it knows', async () => {
    await isBodyServed('older')
    expect(await isRunning(unknownId, platform)).toBe(true)
    expect(await unknownChecks()).toMatchObject([{ message: expect.stringContaining(`shop (${unknownId})`) }])
    expect(await usage()).toMatchObject([{ count: 1, bytes: 0, reclaimable_bytes: null }])
  })

  test('an ordinary cleanup, and a restart, leave it running', async () => {
    expect((await platform.api('POST', '/instance/disk/clean', {})).status).toBe(200)
    expect(await isRunning(unknownId, platform)).toBe(true)
    await platform.handle.stop()
    platform = await startTestPlatform({ ...settings, data_dir })
    await isBodyServed('older')
    expect(await isRunning(unknownId, platform)).toBe(true)
    expect(await unknownChecks()).toHaveLength(1)
  })

  test('it stops on request, and nothing else does', async () => {
    const { status, body } = await platform.api('POST', '/instance/disk/clean', { kinds: ['unknown_apps'] })
    expect([status, body]).toEqual([200, { freed: [{ kind: 'unknown_apps', bytes: 0, count: 1, note: null }], freed_bytes: 0 }])
    expect(await isRunning(unknownId, platform)).toBe(false)
    expect(await unknownChecks()).toEqual([])
    expect(await usage()).toEqual([])
    expect((await platform.fetchEdge('shop.localhost')).body).toBe('older')
  })
}
