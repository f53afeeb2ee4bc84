/** The reported disk usage of an engine, and what a clean-up removes, next to foreign objects. Sizes are known: files of random bytes. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import Docker from 'dockerode'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDockerDisk, type DockerDisk, type DockerResourcesInUse } from '../../server/runtime/docker/disk-usage.ts'
import { createDockerEngine, type DockerEngine, removeContainer } from '../../server/runtime/docker/engine.ts'
import { createDockerView } from '../support/docker.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import { eventually, runtimeOptions } from '../support/runtime.ts'

const mebibyte = 1024 * 1024
const base = 'node:24-bookworm-slim'

describe.skipIf(!requires('docker').ok)('disk usage of Homeport’s objects in an engine', () => {
  const docker = new Docker({ socketPath: dockerSocket })
  const undo: (() => Promise<unknown>)[] = []
  let engine: DockerEngine
  let disk: DockerDisk
  let now = Date.now()
  const needs = {
    projects: new Set<string>(),
    busy: new Set<string>(),
    open: new Set<string>(),
    serving: new Set<string>(),
    images: new Set<string>(),
  }
  const nothingInUse: DockerResourcesInUse = { projects: new Set(), busy: new Set(), open: new Set(), serving: new Set(), images: new Set() }
  const getNeeds = async (): Promise<DockerResourcesInUse> => needs

  beforeAll(async () => {
    const options = await runtimeOptions()
    undo.push(() => options.remove())
    engine = createDockerEngine(options)
    undo.push(() => createDockerView(options.instance_id).removeAll())
    disk = createDockerDisk(engine, { now: () => now })
  })
  afterAll(async () => {
    for (const one of undo.toReversed()) await one()
  })

  /** An image based on another, with one more layer of this size. */
  const image = async (from: string, name: string | null, bytes: number, labels: Record<string, string>) => {
    const container = await docker.createContainer({ Image: from, Cmd: ['node', '-e', ''], Labels: {} })
    const archive = pack()
    archive.entry({ name: `tmp/${randomBytes(6).toString('hex')}` }, randomBytes(bytes))
    archive.finalize()
    await container.putArchive(Readable.from(archive, { objectMode: false }), { path: '/' })
    const [repo, tag] = name?.split(':') ?? []
    const made: { Id: string } = await container.commit({
      _query: { container: container.id, ...(repo ? { repo, tag } : {}) },
      _body: { Labels: labels },
    })
    await container.remove({ force: true })
    return made.Id
  }
  const createVolume = async (name: string, labels: Record<string, string>): Promise<string> => {
    await docker.createVolume({ Name: name, Labels: labels })
    return name
  }
  const isThere = (name: string) =>
    docker
      .getImage(name)
      .inspect()
      .then(
        () => true,
        () => false,
      )
  const kind = async (name: string, by: DockerResourcesInUse = needs) => (await disk.measure(by)).kinds.find((one) => one.kind === name)

  test('is zero at first, and the machine’s base images do not count', async () => {
    const measure = async () =>
      (await disk.measure(needs)).kinds.map(({ kind: name, bytes, count, reclaimable_bytes }) => [name, bytes, count, reclaimable_bytes])
    // A busy engine may take too long to count its volumes, and then they are not reported.
    const nothing = [
      ['images', 0, 0, 0],
      ['build_cache', 0, 0, 0],
      ['volumes', 0, 0, 0],
      ['app_volumes', 0, 0, 0],
      ['databases', 0, 0, 0],
      ['other', 0, 0, 0],
    ]
    await eventually(async () => expect(await measure()).toEqual(nothing))
  })

  test('shared layers are counted once; only layers that nothing else uses are freed', async () => {
    const dependencies = `${engine.getImageName('prj_a', 'x').split(':')[0]}:dependencies-abc`
    const [one, two] = [engine.getImageName('prj_a', 'dpl_1'), engine.getImageName('prj_a', 'dpl_2')]
    await image(base, dependencies, 5 * mebibyte, engine.createLabels('dependencies', { project_id: 'prj_a', deployment_id: '' }))
    await image(dependencies, one, 2 * mebibyte, engine.createLabels('image', { project_id: 'prj_a', deployment_id: 'dpl_1' }))
    await image(dependencies, two, 3 * mebibyte, engine.createLabels('image', { project_id: 'prj_a', deployment_id: 'dpl_2' }))
    needs.images.add(two)

    expect(await kind('images')).toMatchObject({ bytes: 10 * mebibyte, count: 2, reclaimable_bytes: 2 * mebibyte })
    expect(await kind('build_cache')).toMatchObject({ bytes: 0, count: 1, reclaimable_bytes: 0 })
    // With nothing in use, the dependencies keep only their own layers.
    expect(await kind('images', nothingInUse)).toMatchObject({ reclaimable_bytes: 5 * mebibyte })

    expect(await disk.clean('images', getNeeds)).toEqual({ bytes: 2 * mebibyte, count: 1 })
    expect([await isThere(one), await isThere(two), await isThere(dependencies)]).toEqual([false, true, true])
    expect(await kind('images')).toMatchObject({ bytes: 8 * mebibyte, count: 1, reclaimable_bytes: 0 })
  })

  test('dependencies stay during a build of their project; afterwards their tag is removed, and layers in use stay', async () => {
    needs.busy.add('prj_a')
    expect(await disk.clean('build_cache', getNeeds)).toEqual({ bytes: 0, count: 0 })
    needs.busy.delete('prj_a')
    await image(
      base,
      `${engine.getImageName('prj_b', 'x').split(':')[0]}:dependencies-def`,
      4 * mebibyte,
      engine.createLabels('dependencies', { project_id: 'prj_b' }),
    )
    expect(await kind('build_cache')).toMatchObject({ bytes: 4 * mebibyte, count: 2, reclaimable_bytes: 4 * mebibyte })
    expect(await disk.clean('build_cache', getNeeds)).toEqual({ bytes: 4 * mebibyte, count: 2 })
    expect(await isThere(engine.getImageName('prj_a', 'dpl_2'))).toBe(true)
    expect(await kind('images')).toMatchObject({ bytes: 8 * mebibyte })
  })

  test('foreign objects stay: of another instance, tagged, built or run by users, and everything unlabeled', async () => {
    const mark = randomBytes(4).toString('hex')
    const foreign = { 'homeport.instance': `other-${mark}`, 'homeport.role': 'image', 'homeport.deployment': 'dpl_gone' }
    const own = engine.createLabels('image', { project_id: 'prj_c', deployment_id: 'dpl_gone' })
    const name = engine.getImageName('prj_c', 'dpl_gone')
    await image(base, name, mebibyte, own)
    await docker.getImage(name).tag({ repo: `mine-${mark}`, tag: 'kept' })
    await image(base, `homeport-other-${mark}/prj_x:dpl_gone`, mebibyte, foreign)
    await image(base, `mine-${mark}:plain`, mebibyte, {})
    await image(name, `mine-${mark}:child`, mebibyte, own)
    const nameless = await image(name, null, mebibyte, own)
    const images = [nameless, `mine-${mark}:kept`, `homeport-other-${mark}/prj_x:dpl_gone`, `mine-${mark}:plain`, `mine-${mark}:child`]
    const run = (from: string, labels: Record<string, string>) => docker.createContainer({ Image: from, Cmd: ['node', '-e', ''], Labels: labels })
    const containers = await Promise.all([
      run(base, {}),
      run(base, { ...foreign, 'homeport.role': 'app' }),
      // It inherits our labels from the image.
      run(`mine-${mark}:kept`, {}),
    ])
    const volumes = await Promise.all([{}, { ...foreign, 'homeport.role': 'cache' }].map((labels, i) => createVolume(`mine-${mark}-${i}`, labels)))
    const networks = await Promise.all(
      [{}, { ...foreign, 'homeport.project': 'prj_gone' }].map((labels, i) => docker.createNetwork({ Name: `mine-${mark}-${i}`, Labels: labels })),
    )
    undo.push(async () => {
      for (const one of containers) await one.remove({ force: true })
      for (const one of images.toReversed()) await docker.getImage(one).remove({ force: true })
      for (const one of volumes) await docker.getVolume(one).remove()
      for (const one of networks) await one.remove()
    })

    now = Date.now() + 3_600_000
    for (const one of ['images', 'build_cache', 'volumes', 'other'] as const)
      await disk.clean(one, async () => ({ ...nothingInUse, images: needs.images }))
    expect(await Promise.all(images.map(isThere))).toEqual(images.map(() => true))
    for (const one of containers) expect((await one.inspect()).State.Status).toBe('created')
    for (const one of volumes) expect((await docker.getVolume(one).inspect()).Name).toBe(one)
    for (const one of networks) expect((await one.inspect()).Id).toBe(one.id)
    // Our tag is removed from an image that a user has tagged, and it no longer counts as ours.
    expect(await isThere(name)).toBe(false)
    expect(await kind('images')).toMatchObject({ bytes: 8 * mebibyte, count: 1 })
  })

  test('containers, volumes and networks without an owner are removed; those in use, being built or recent stay', async () => {
    const app = (deployment_id: string, role: 'app' | 'build' = 'app') =>
      docker.createContainer({ Image: base, Cmd: ['node', '-e', ''], Labels: engine.createLabels(role, { project_id: 'prj_a', deployment_id }) })
    const [gone, built, serving, open] = [
      await app('dpl_gone'),
      await app('dpl_gone', 'build'),
      await app('dpl_serving'),
      await app('dpl_open', 'build'),
    ]
    needs.serving.add('dpl_serving')
    needs.open.add('dpl_open')
    needs.busy.add('prj_a')
    needs.projects.add('prj_a')
    const volume = (project_id: string, role: 'cache' | 'database') =>
      createVolume(engine.createName(project_id, role), engine.createLabels(role, { project_id }))
    const volumes = [await volume('prj_a', 'cache'), await volume('prj_b', 'cache'), await volume('prj_b', 'database')]
    const network = (project_id: string) =>
      docker.createNetwork({ Name: engine.createName(project_id, 'net'), Labels: engine.createLabels('database', { project_id }) })
    const networks = [await network('prj_a'), await network('prj_gone')]
    const shared = await engine.ensureNetwork()

    now = Date.now()
    expect((await disk.clean('other', getNeeds)).count).toBe(1)
    now += 3_600_000
    expect((await disk.clean('other', getNeeds)).count).toBe(2)
    expect((await disk.clean('volumes', getNeeds)).count).toBe(1)

    const left = new Set((await docker.listContainers({ all: true })).map(({ Id }) => Id))
    expect([gone, built, serving, open].map(({ id }) => left.has(id))).toEqual([false, false, true, true])
    const there = new Set((await docker.listVolumes()).Volumes.map(({ Name }) => Name))
    expect(volumes.map((one) => there.has(one))).toEqual([true, false, true])
    const known = await docker.listNetworks()
    expect(networks.map(({ id }) => known.some(({ Id }) => Id === id))).toEqual([true, false])
    expect(known.some(({ Name }) => Name === shared)).toBe(true)
  })

  test('an anonymous volume of an image is removed with its container', async () => {
    const container = await docker.createContainer({
      Image: base,
      Cmd: ['node', '-e', ''],
      Volumes: { '/data': {} },
      Labels: engine.createLabels('app'),
    })
    const { Mounts } = await container.inspect()
    const name = Mounts[0]?.Name ?? ''
    expect((await docker.getVolume(name).inspect()).Name).toBe(name)
    await removeContainer(container)
    await expect(docker.getVolume(name).inspect()).rejects.toThrow('no such volume')
  })

  test('without an engine it fails, and does not report zero', async () => {
    const options = { ...engine.options, docker: { candidates: ['unix:///nowhere/docker.sock'] } }
    await expect(createDockerDisk(createDockerEngine(options), { now: Date.now }).measure(needs)).rejects.toThrow('Docker is not available')
  })
})
