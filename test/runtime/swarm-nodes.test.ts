import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import type { DockerEngine } from '../../server/runtime/docker/engine.ts'
import { createSwarmNodes } from '../../server/runtime/swarm/nodes.ts'
import { waitEventLoopTurns } from '../support/seeded-random.ts'
import { createTestClock } from '../support/test-clock.ts'

/* With real nodes: test/deployments/nodes.full.test.ts. */

test('a swarm that does not answer is reported after five seconds, with what to do', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  const hang = () => new Promise(() => {})
  const docker = { listNodes: hang, listServices: hang, listTasks: hang } as unknown as Docker
  const engine = {
    connection: async () => ({ docker, swarm: { node_id: 'one', node_address: '10.0.0.1' } }),
    createOwnFilters: () => ({}),
  } as unknown as DockerEngine
  const nodes = createSwarmNodes(engine, {
    registry: {} as never,
    edges: {} as never,
    probes: { isSilent: () => false },
    withPlainFailures: (_signal, work) => work(),
    clock,
  })
  const failures: unknown[] = []
  void nodes.list().catch((error: unknown) => failures.push(error))
  await waitEventLoopTurns(3)
  await clock.advance(4_999)
  expect(failures).toEqual([])
  await clock.advance(1)
  await waitEventLoopTurns(3)
  const message = 'The swarm does not answer. If it has just lost a manager, try again in half a minute; else run homeport doctor.'
  expect(failures).toMatchObject([{ code: 'runtime_unavailable', message }])
})
