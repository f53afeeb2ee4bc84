import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import { createDockerEngine, type DockerEngine } from '../../server/runtime/docker/engine.ts'
import type { ClusterRegistry } from '../../server/runtime/swarm/cluster-registry.ts'
import { createSharedImages } from '../../server/runtime/swarm/shared-images.ts'
import { runtimeOptions } from '../support/runtime.ts'

/* With a registry: swarm-registry.full.test.ts. */

const id = `sha256:${'1'.repeat(64)}`

/** An engine without images, on a node of two, and a registry that has some. */
async function create(inRegistry: (instance: string) => string[]) {
  const options = await runtimeOptions()
  await options.remove()
  const base = createDockerEngine(options)
  const own = base.getImageName('prj_1', 'dpl_1')
  const kept = new Set(inRegistry(own))
  const names = new Map<string, { Id: string; RepoDigests: string[] }>()
  const logins: unknown[] = []
  const state = { isAway: false }
  const missing = () => Object.assign(new Error('no such image'), { statusCode: 404 })
  const docker = {
    listNodes: async () => ['one', 'two'].map((ID) => ({ ID, Status: { State: 'ready', Addr: ID } })),
    getImage: (name: string) => ({
      async inspect() {
        const found = names.get(name)
        if (!found) throw missing()
        return found
      },
      tag: async ({ repo, tag }: { repo: string; tag: string }) => void names.set(`${repo}:${tag}`, names.get(name)!),
    }),
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
  } as unknown as ClusterRegistry
  const { share } = createSharedImages(engine, registry)
  return {
    own,
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
