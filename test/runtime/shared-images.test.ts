import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import { createDockerEngine, type DockerEngine } from '../../server/runtime/docker/engine.ts'
import type { ClusterRegistry } from '../../server/runtime/swarm/cluster-registry.ts'
import { createSharedImages } from '../../server/runtime/swarm/shared-images.ts'
import { runtimeOptions } from '../support/runtime.ts'
import { createTestClock } from '../support/test-clock.ts'

/* With a registry: swarm-registry.full.test.ts. */

const id = `sha256:${'1'.repeat(64)}`

/** An engine without images, on a node of two, and a registry that has some. */
async function create(inRegistry: (instance: string) => string[]) {
  const options = await runtimeOptions()
  await options.remove()
  const clock = createTestClock({ frozen_at: 0 })
  const base = createDockerEngine({ ...options, clock })
  const own = base.getImageName('prj_1', 'dpl_1')
  const kept = new Set(inRegistry(own))
  const names = new Map<string, { Id: string; RepoDigests: string[] }>()
  const logins: unknown[] = []
  const state = { isAway: false, services: [] as string[], discarded: [] as string[] }
  const missing = () => Object.assign(new Error('no such image'), { statusCode: 404 })
  const docker = {
    listNodes: async () => ['one', 'two'].map((ID) => ({ ID, Status: { State: 'ready', Addr: ID } })),
    getImage: (name: string) => ({
      async inspect() {
        const found = names.get(name)
        if (!found) throw missing()
        return found
      },
      remove: async () => void names.delete(name),
      tag: async ({ repo, tag }: { repo: string; tag: string }) => void names.set(`${repo}:${tag}`, names.get(name)!),
    }),
    listServices: async () => state.services.map((Image) => ({ Spec: { TaskTemplate: { ContainerSpec: { Image } } } })),
    listImages: async () =>
      [...Map.groupBy(names, ([, { Id }]) => Id).values()].map((found) => ({
        ...found[0]![1],
        RepoTags: found.map(([name]) => name).filter((name) => !name.startsWith('sha256:')),
      })),
    async pull(name: string, { authconfig }: { authconfig: unknown }) {
      logins.push(authconfig)
      if (state.isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { statusCode: 500 })
      if (!kept.has(name)) throw missing()
      const found = { Id: id, RepoDigests: [`${name.slice(0, name.lastIndexOf(':'))}@sha256:2`] }
      names.set(name, found)
      names.set(id, found)
      return Readable.from(['{}'])
    },
    modem: { followProgress: (stream: Readable, done: (error: Error | null) => void) => stream.resume().on('end', () => done(null)) },
  } as unknown as Docker
  const engine = { ...base, connection: async () => ({ docker, swarm: { node_id: 'one', node_address: 'one' } }) } as unknown as DockerEngine
  const registry = {
    getPrefix: async () => 'registry:5000/apps',
    getHost: async () => 'registry:5000',
    getLogin: async () => ({ username: 'me' }),
    discard: async (digests: string[]) => void state.discarded.push(...digests),
  } as unknown as ClusterRegistry
  const { share, prune } = createSharedImages(engine, registry)
  return {
    own,
    clock,
    prune,
    names,
    logins,
    state,
    images: engine.createName('images'),
    share: (image: string, more: { id?: string } = {}) =>
      share({ artifact: { kind: 'image', image, port: null, bytes: 0, ...more }, signal: new AbortController().signal }),
  }
}

test('an image that another machine has built is pulled from the registry of the cluster', async () => {
  const { own, names, logins, share } = await create((name) => [`registry:5000/apps/${name}`])
  const repository = own.slice(0, own.lastIndexOf(':'))
  expect(await share(own)).toEqual({ image: `registry:5000/apps/${repository}@sha256:2`, authconfig: { username: 'me' } })
  expect(logins).toEqual([{ username: 'me' }])
  expect(names.get(own)?.Id).toBe(id)
})

test('a prebuilt image is pulled from there as what it was', async () => {
  const { images, names, share } = await create((name) => [`registry:5000/apps/${name.split('/')[0]}-images:${'1'.repeat(64)}`])
  expect(await share('postgres:18', { id })).toMatchObject({ image: `registry:5000/apps/${images}@sha256:2` })
  // The name may be another image by now.
  expect(names.has('postgres:18')).toBe(false)
})

test('an image that is not in the registry either needs a deployment', async () => {
  const { own, share } = await create(() => [])
  await expect(share(own)).rejects.toMatchObject({ code: 'start_failed', hint: 'Deploy the project again.' })
})

test('a registry that does not answer is no reason to say that an image is gone', async () => {
  const { own, state, share } = await create((name) => [`registry:5000/apps/${name}`])
  state.isAway = true
  await expect(share(own)).rejects.toMatchObject({
    message: expect.stringContaining('could not be pulled from the registry of the swarm, registry:5000.'),
  })
})

test('the copy of a prebuilt image is removed once no deployment and no service uses it', async () => {
  const { images, clock, names, state, share, prune } = await create((name) => [`registry:5000/apps/${name.split('/')[0]}-images:${'1'.repeat(64)}`])
  const { image } = await share('postgres:18', { id })
  const copy = `registry:5000/apps/${images}:${'1'.repeat(64)}`
  // Its service may not exist yet.
  expect(await prune(new Set())).toContain(image)
  await clock.jump(600_000)
  expect(await prune(new Set([id]))).toContain(image)
  state.services = [image]
  expect(await prune(new Set())).toContain(image)
  expect([names.has(copy), state.discarded]).toEqual([true, []])
  state.services = []
  expect(await prune(new Set())).not.toContain(image)
  expect([names.has(copy), state.discarded]).toEqual([false, [image]])
})

test('images of apps are kept as long as this machine has them', async () => {
  const { own, clock, state, share, prune } = await create((name) => [`registry:5000/apps/${name}`])
  const { image } = await share(own)
  await clock.jump(600_000)
  expect(await prune(new Set())).toContain(image)
  expect(state.discarded).toEqual([])
})
