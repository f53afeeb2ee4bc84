import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import { createDockerEngine, type DockerEngine } from '../../server/runtime/docker/engine.ts'
import { createIdentityReader } from '../../server/runtime/swarm/cluster-identity.ts'
import { createSwarmEdges } from '../../server/runtime/swarm/swarm-edges.ts'
import { runtimeOptions } from '../support/runtime.ts'
import { createTestClock } from '../support/test-clock.ts'

/* With real nodes: test/deployments/node-edges.full.test.ts. */

const day_ms = 86_400_000
const program = { files: { 'edge.js': '' }, entry: 'edge.js' }

/** A swarm of three nodes, of which Homeport has the first. */
async function create() {
  const clock = createTestClock({ frozen_at: '2026-01-01' })
  const options = await runtimeOptions()
  await options.remove()
  const services: { ID: string; Version: { Index: number }; Spec: Docker.ServiceSpec; updates: number }[] = []
  const secrets: { ID: string; CreatedAt: string; Spec: { Name: string; Data: string } }[] = []
  const docker = {
    listNodes: async () => ['a', 'b', 'c'].map((ID) => ({ ID, Status: { State: 'ready', Addr: ID }, Spec: { Availability: 'active' } })),
    listServices: async () => services,
    createService: async (Spec: Docker.ServiceSpec) => void services.push({ ID: Spec.Name ?? '', Version: { Index: 1 }, Spec, updates: 0 }),
    getService: (id: string) => ({
      async update({ version: _, ...Spec }: Docker.ServiceSpec & { version: number }) {
        const found = services.find(({ ID }) => ID === id)!
        Object.assign(found, { Spec, updates: found.updates + 1 })
      },
    }),
    listConfigs: async () => [],
    createConfig: async () => ({ id: 'config' }),
    listSecrets: async () => secrets,
    async createSecret(Spec: { Name: string; Data: string }) {
      const ID = `secret-${secrets.length}`
      secrets.push({ ID, CreatedAt: String(secrets.length), Spec })
      return { id: ID }
    },
    getSecret: (id: string) => ({
      remove: async () =>
        void secrets.splice(
          secrets.findIndex(({ ID }) => ID === id),
          1,
        ),
    }),
    getImage: () => ({ inspect: async () => ({ Id: 'sha256:1' }) }),
  } as unknown as Docker
  const connection = async () => ({ docker, swarm: { node_id: 'a', node_address: 'a' } })
  const engine = { ...createDockerEngine({ ...options, clock }), connection } as unknown as DockerEngine
  let kept: string | undefined
  const readIdentity = createIdentityReader({ read: async () => kept, write: async (text: string) => void (kept = text) }, clock)
  const { applyEdges } = createSwarmEdges(engine, { images: { share: async () => ({ image: 'node' }) } as never, readIdentity })
  return { clock, services, secrets, applyEdges: (claimRestart = true) => applyEdges(program, () => claimRestart) }
}

test('the certificate of an edge is renewed before it ends, by a restart of one edge after the other', async () => {
  const { clock, services, secrets, applyEdges } = await create()
  expect(await applyEdges()).toMatchObject([{ node_id: 'b' }, { node_id: 'c' }])
  const countUpdates = () => services.map(({ updates }) => updates)
  const first = secrets.map(({ Spec }) => Spec.Name)
  await clock.jump(29 * day_ms)
  await applyEdges()
  expect(countUpdates()).toEqual([0, 0])
  await clock.jump(2 * day_ms)
  await applyEdges(false)
  expect(countUpdates()).toEqual([0, 0])
  await applyEdges()
  expect(countUpdates()).toEqual([1, 0])
  await applyEdges()
  await applyEdges()
  expect(countUpdates()).toEqual([1, 1])
  // The earlier ones stay, because a task may still read them; those before are removed.
  expect(secrets.filter(({ Spec }) => first.includes(Spec.Name))).toHaveLength(2)
  await clock.jump(31 * day_ms)
  await applyEdges()
  await applyEdges()
  expect(countUpdates()).toEqual([2, 2])
  expect([secrets.length, secrets.some(({ Spec }) => first.includes(Spec.Name))]).toEqual([4, false])
})

test('the platform shows edges a certificate that has not ended', async () => {
  const { clock, applyEdges } = await create()
  const certificateNow = async () => (await applyEdges())[0]?.tls.cert
  const before = await certificateNow()
  expect(await certificateNow()).toBe(before)
  await clock.jump(2 * day_ms)
  expect(await certificateNow()).not.toBe(before)
})
