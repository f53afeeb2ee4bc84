/** Disk usage and clean-up of a platform on Docker, next to another instance. Clean-up inside the engine is tested in test/runtime. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DiskUsage } from '../../server/contract/maintenance.ts'
import { dockerViewOf } from '../database/docker-server.ts'
import { createDockerFaultProxy, type DockerFaultProxy } from '../support/docker-fault-proxy.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'

const mebibyte = 2 ** 20

describe.skipIf(!requires('docker').ok)('on Docker', () => {
  let faultProxy: DockerFaultProxy
  let home: TestPlatform
  let other: TestPlatform
  let repository: Repository

  beforeAll(async () => {
    faultProxy = createDockerFaultProxy()
    await faultProxy.open()
    home = await startTestPlatform({ runtime: 'docker', docker_candidates: [faultProxy.address] })
    other = await startTestPlatform({ runtime: 'docker' })
    repository = makeRepository(appOf('v1'))
    for (const platform of [home, other]) await platform.createProject({ slug: 'mine', repo_url: repository.url })
  })
  afterAll(async () => {
    await home.remove()
    await other.remove()
    await faultProxy.remove()
    repository.remove()
  })

  /** An app of this size, which neither compresses nor shares layers. */
  const appOf = (version: string) => ({ ...tinyServer(version), 'noise.bin': randomBytes(mebibyte).toString('base64') })
  const live = async (platform: TestPlatform) => {
    const { id, status, error } = await platform.waitForEnd('mine', (await platform.deploy('mine')).id)
    expect([status, error]).toEqual(['ready', null])
    return id
  }
  const images = async () =>
    (await home.api<{ kinds: DiskUsage[] }>('GET', '/instance/disk')).body.kinds.find(
      ({ kind, location }) => kind === 'images' && location === 'engine',
    )
  /** A busy engine takes longer than the request waits: then it is requested again. */
  const counted = () =>
    until(
      async () => {
        const found = await images()
        return found?.count === null ? undefined : found
      },
      { what: 'images to be counted' },
    )
  const clean = async () => {
    const { status, body } = await home.api<{ freed: { kind: string; note: string | null }[] }>('POST', '/instance/disk/clean', {})
    expect(status).toBe(200)
    return body.freed.find(({ kind }) => kind === 'images')?.note
  }

  test('images over the limit are removed; those of current, sleeping or previous deployments stay, and those of another instance too', async () => {
    await live(other)
    const [mine, theirs] = [await dockerViewOf(home), await dockerViewOf(other)]
    const built = async () => (await mine.images()).filter(({ role }) => role === 'image').map(({ deployment_id }) => deployment_id)
    const ids = [await live(home)]
    for (const version of ['v2', 'v3', 'v4']) {
      repository.commit(appOf(version))
      ids.push(await live(home))
    }
    // Each has a separate layer of about a megabyte.
    expect((await counted()).bytes).toBeGreaterThan(4 * 1.3 * mebibyte)
    expect((await counted()).bytes).toBeLessThan(4 * 2 * mebibyte)

    await home.api('PATCH', '/instance/settings', { keep_deployments: 2, sleep_after_s: 1, frozen_for_s: 0 })
    await until(async () => ((await built()).length === 2 ? true : undefined), { what: 'the older images to go' })
    // Asleep and stopped: no container uses the image.
    await until(async () => ((await mine.containers()).length === 0 ? true : undefined), { what: 'the app to be stopped in its sleep' })
    const before = { images: await theirs.images(), containers: await theirs.containers() }
    expect(await clean()).toContain('Docker')
    expect((await built()).toSorted()).toEqual(ids.slice(-2).toSorted())
    expect({ images: await theirs.images(), containers: await theirs.containers() }).toEqual(before)
    await home.api('PATCH', '/instance/settings', { sleep_after_s: 600 })
    expect((await home.fetchEdge('mine.localhost')).body).toBe('v4')
    expect((await other.fetchEdge('mine.localhost')).body).toBe('v1')
  })

  test('without an engine the rest is reported and cleaned; its share is reported as unknown', async () => {
    await faultProxy.close()
    expect(await images()).toMatchObject({ bytes: 0, count: null, reclaimable_bytes: null, note: expect.stringContaining('not responding') })
    expect(await clean()).toContain('nothing was removed')
    await faultProxy.open()
    expect((await counted()).count).toBe(2)
  })
})
