import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import type { DockerEngine } from '../../server/runtime/docker/engine.ts'
import { createServiceRemovals } from '../../server/runtime/swarm/service-removals.ts'
import { waitEventLoopTurns } from '../support/seeded-random.ts'
import { createTestClock } from '../support/test-clock.ts'

test('a service is removed as soon as the swarm accepts it, and the caller waits for six seconds', async () => {
  const { swarm, removals, pass } = create()
  swarm.refuses = true
  let isOver = false
  void removals.remove('one').then(() => (isOver = true))
  await pass(5_900)
  expect({ isOver, removing: removals.isRemoving('one') }).toEqual({ isOver: false, removing: true })
  await pass(100)
  expect(isOver).toBe(true)
  await pass(60_000)
  expect(swarm.logged).toEqual(['swarm_service_not_removed one'])
  expect(swarm.services).toEqual(new Set(['one', 'of another instance']))
  swarm.refuses = false
  await pass(5_000)
  expect(swarm.services).toEqual(new Set(['of another instance']))
  expect(removals.isRemoving('one')).toBe(false)
  expect([...swarm.networks.keys()]).toEqual(['other'])
})

test('a swarm that does not answer is asked again', async () => {
  const { swarm, removals, pass } = create()
  swarm.hangs = true
  void removals.remove('one')
  await pass(1_000)
  swarm.hangs = false
  await pass(20_000)
  expect(swarm.services).toEqual(new Set(['of another instance']))
})

test('a service that is gone, or of another instance, is left alone, and two removals of one are one', async () => {
  const { swarm, removals, pass } = create()
  await removals.remove('gone')
  await removals.remove('of another instance')
  expect(swarm.services).toEqual(new Set(['one', 'of another instance']))
  swarm.refuses = true
  const both = [removals.remove('one'), removals.remove('one')]
  await waitEventLoopTurns(3)
  swarm.refuses = false
  await pass(300)
  await Promise.all(both)
  expect(swarm.attempts).toEqual(['one', 'one'])
})

test('nothing is tried again once it is closed', async () => {
  const { swarm, removals, pass } = create()
  swarm.refuses = true
  const removal = removals.remove('one')
  await waitEventLoopTurns(3)
  removals.close()
  await removal
  await pass(60_000)
  expect(swarm.attempts).toEqual(['one'])
})

function create() {
  const swarm = {
    services: new Set(['one', 'of another instance']),
    /** Names by id. An earlier network of a name can still be there, so that only the ids are unique. */
    networks: new Map([
      ['new', 'homeport-me-services-app'],
      ['other', 'other'],
    ]),
    attempts: [] as string[],
    logged: [] as string[],
    refuses: false,
    hangs: false,
  }
  const fail = (statusCode: number, text: string) => Object.assign(new Error(text), { statusCode })
  const docker = {
    getService: (id: string) => ({
      async inspect() {
        if (!swarm.services.has(id)) throw fail(404, 'no such service')
        const Networks = [...swarm.networks.keys()].map((Target) => ({ Target }))
        return { Spec: { Labels: { 'homeport.instance': id === 'one' ? 'me' : 'other' }, TaskTemplate: { Networks } } }
      },
      async remove() {
        swarm.attempts.push(id)
        if (swarm.hangs) await new Promise(() => {})
        if (swarm.refuses) throw fail(500, 'rpc error: code = Unknown desc = raft: failed to process the request: node lost leader status')
        swarm.services.delete(id)
      },
    }),
    getNetwork: (id: string) => ({
      async inspect() {
        if (!swarm.networks.has(id)) throw fail(400, `2 matches found based on name: network ${id} is ambiguous`)
        return { Name: swarm.networks.get(id), Containers: {}, Scope: 'swarm' }
      },
      remove: async () => void swarm.networks.delete(id),
    }),
  } as unknown as Docker
  const engine = {
    connection: async () => ({ docker }),
    runInBackground: (job: Promise<void>) => void job,
    createName: (...parts: string[]) => ['homeport-me', ...parts].join('-'),
    options: { instance_id: 'me', log: { warn: (event: string, { service }: { service: string }) => void swarm.logged.push(`${event} ${service}`) } },
  } as unknown as DockerEngine
  const clock = createTestClock({ frozen_at: 0 })
  /** In small steps, so that what follows a timer sets the next one. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      await clock.advance(100)
      await waitEventLoopTurns(3)
    }
  }
  return { swarm, removals: createServiceRemovals(engine, { clock }), pass }
}
