/** Disk use and clean-up of a whole platform on Docker, beside another instance of Homeport and things of nobody’s. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DiskUse } from '../../server/contract/upkeep.ts'
import { instanceIdOf, viewEngine, type EngineView } from '../support/docker.ts'
import { createEngineGate } from '../support/engine-gate.ts'
import { startTestPlatform, until, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'

const mebibyte = 2 ** 20

describe.skipIf(!requires('docker').ok)('on Docker', () => {
  let home: TestPlatform
  let other: TestPlatform
  let engine: EngineView
  let theirs: EngineView
  const repositories: Repository[] = []

  beforeAll(async () => {
    home = await startTestPlatform({ runtime: 'docker' })
    other = await startTestPlatform({ runtime: 'docker' })
    engine = viewEngine(await idOf(home))
    theirs = viewEngine(await idOf(other))
  })
  afterAll(async () => {
    await home.remove()
    await other.remove()
    for (const repository of repositories) repository.remove()
  })

  const idOf = async (platform: TestPlatform) => {
    const { body } = await platform.api<{ user: { id: string } }>('GET', '/instance/session')
    return instanceIdOf(body.user.id)
  }
  /** An app of so many bytes, none of which compress or are shared. */
  const appOf = (version: string) => ({ ...tinyServer(version), 'noise.bin': randomBytes(mebibyte).toString('base64') })
  const connect = async (platform: TestPlatform, slug: string) => {
    const repository = makeRepository(appOf('v1'))
    repositories.push(repository)
    await platform.createProject({ slug, repo_url: repository.url })
    return repository
  }
  const live = async (platform: TestPlatform, slug: string) => {
    const { id } = await platform.deploy(slug)
    const { status, error } = await platform.ended(slug, id)
    expect([status, error]).toEqual(['ready', null])
    return id
  }
  /** A busy engine counts longer than a look waits: then it is asked again. */
  const use = (kind: string) =>
    until(
      async () => {
        const { body } = await home.api<{ kinds: DiskUse[] }>('GET', '/instance/disk')
        return body.kinds.find((one) => one.kind === kind && one.place === 'engine' && one.count !== null)
      },
      { what: `${kind} to be counted` },
    )
  const built = async (view: EngineView) => (await view.images()).filter(({ role }) => role === 'image').map(({ deployment_id }) => deployment_id)

  test('images past the number to keep go; those of what serves, sleeps or was served before stay, and another instance’s too', async () => {
    await connect(other, 'mine')
    const foreign = await live(other, 'mine')
    const repository = await connect(home, 'mine')
    const ids = [await live(home, 'mine')]
    for (const version of ['v2', 'v3', 'v4']) {
      repository.commit(appOf(version))
      ids.push(await live(home, 'mine'))
    }
    // Each has a layer of its own, of a good megabyte.
    expect((await use('images')).bytes).toBeGreaterThan(4 * 1.3 * mebibyte)
    expect((await use('images')).bytes).toBeLessThan(4 * 2 * mebibyte)

    await home.api('PATCH', '/instance/settings', { keep_deployments: 2, sleep_after_s: 1, frozen_for_s: 0 })
    await until(async () => ((await built(engine)).length === 2 ? true : undefined), { what: 'the older images to go' })
    expect((await built(engine)).toSorted()).toEqual(ids.slice(-2).toSorted())

    // Asleep and stopped: there is no container to hold the image.
    await until(async () => ((await engine.containers()).length === 0 ? true : undefined), { what: 'the app to be stopped in its sleep' })
    const before = { images: await theirs.images(), containers: await theirs.containers() }
    const { status, body } = await home.api<{ freed: { kind: string; note: string | null }[] }>('POST', '/instance/disk/clean', {})
    expect(status).toBe(200)
    expect(body.freed.find(({ kind }) => kind === 'images')?.note).toContain('Docker')
    expect((await built(engine)).toSorted()).toEqual(ids.slice(-2).toSorted())
    expect({ images: await theirs.images(), containers: await theirs.containers() }).toEqual(before)
    expect(before.images.some(({ deployment_id }) => deployment_id === foreign)).toBe(true)
    await home.api('PATCH', '/instance/settings', { sleep_after_s: 600 })
    expect((await home.edge('mine.localhost')).body).toBe('v4')
    expect((await other.edge('mine.localhost')).body).toBe('v1')

    const back = await home.api<{ deployment: { id: string } }>('POST', `/v1/projects/mine/deployments/${ids[2]}/rollback`)
    const rolled = await home.ended('mine', back.body.deployment.id)
    expect([rolled.status, rolled.build_log.includes('is used again')]).toEqual(['ready', true])
    expect((await home.edge('mine.localhost')).body).toBe('v3')

    // What the roll-back shares stays as long as it is wanted, and goes with the last that does.
    for (const version of ['v5', 'v6', 'v7']) {
      repository.commit(appOf(version))
      ids.push(await live(home, 'mine'))
    }
    const last = ids.slice(-2).toSorted().join()
    await until(async () => ((await built(engine)).toSorted().join() === last ? true : undefined), { what: 'all but the last images to go' })
  })

  test('an image that no row names goes by a clean-up, which says its size', async () => {
    const name = `homeport-${await idOf(home)}/prj_lost:dpl_lost`
    const current = (await engine.images())[0]!
    const container = await engine.docker.createContainer({
      Image: current.id,
      Cmd: ['sh', '-c', 'head -c 3000000 /dev/urandom > /tmp/x'],
      User: '0',
    })
    await container.start()
    await container.wait()
    const labels = {
      'homeport.instance': await idOf(home),
      'homeport.role': 'image',
      'homeport.project': 'prj_lost',
      'homeport.deployment': 'dpl_lost',
    }
    const [repo, tag] = name.split(':')
    await container.commit({ _query: { container: container.id, repo, tag }, _body: { Labels: labels } })
    await container.remove({ force: true })
    expect((await use('images')).reclaimable_bytes).toBe(3_000_000)
    const { body } = await home.api<{ freed: object[]; freed_bytes: number }>('POST', '/instance/disk/clean', { kinds: ['images'] })
    expect(body).toEqual({ freed: [{ kind: 'images', bytes: 3_000_000, count: 1, note: 'Inside the Docker engine.' }], freed_bytes: 3_000_000 })
    expect(await built(engine)).not.toContain('dpl_lost')
    expect((await home.edge('mine.localhost')).body).toBe('v7')
  })

  test('without an engine the rest is told and cleaned all the same; what lies in it is said not to be known', async () => {
    const gate = createEngineGate()
    await gate.open()
    const client = await startTestPlatform({ runtime: 'docker', docker_candidates: [gate.address] })
    const kinds = async () => {
      const { status, body } = await client.api<{ kinds: DiskUse[] }>('GET', '/instance/disk')
      expect(status).toBe(200)
      return body.kinds
    }
    const images = async () => (await kinds()).find(({ kind }) => kind === 'images')
    try {
      const repository = makeRepository(appOf('v1'))
      repositories.push(repository)
      await client.createProject({ slug: 'away', repo_url: repository.url })
      const { id } = await client.deploy('away')
      expect((await client.ended('away', id)).status).toBe('ready')
      const counted = await until(
        async () => {
          const found = await images()
          return found?.count === 1 ? found : undefined
        },
        { what: 'the image to be counted' },
      )
      expect(counted.reclaimable_bytes).toBe(0)

      await gate.shut()
      expect(await images()).toMatchObject({ bytes: 0, count: null, reclaimable_bytes: null, note: expect.stringContaining('does not answer') })
      expect((await kinds()).find(({ kind }) => kind === 'ledger')?.bytes).toBeGreaterThan(0)
      const { status, body } = await client.api<{ freed: { kind: string; note: string | null }[] }>('POST', '/instance/disk/clean', {})
      expect(status).toBe(200)
      expect(body.freed.find(({ kind }) => kind === 'images')?.note).toContain('nothing was freed')

      await gate.open()
      await until(async () => ((await images())?.count === 1 ? true : undefined), { what: 'the engine to be counted again' })
    } finally {
      await client.remove()
      await gate.remove()
    }
  })
})
