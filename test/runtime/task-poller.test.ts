import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import type { DockerEngine } from '../../server/runtime/docker/engine.ts'
import { createTaskPoller } from '../../server/runtime/swarm/tasks.ts'
import { waitEventLoopTurns } from '../support/seeded-random.ts'
import { createTestClock } from '../support/test-clock.ts'

test('a swarm that does not answer is asked again two seconds after the limit, and its nodes are probed meanwhile', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  let [asked, intervals] = [0, 0]
  const docker = { listTasks: () => (asked++, new Promise(() => {})) } as unknown as Docker
  const engine = { connection: async () => ({ docker }), createOwnFilters: () => ({}), options: { log: { warn() {} } } } as unknown as DockerEngine
  const poller = createTaskPoller(engine, () => intervals++, clock)
  poller.watch('service', async () => {})
  await waitEventLoopTurns(3)
  await clock.advance(4_999)
  expect({ asked, intervals }).toEqual({ asked: 1, intervals: 9 })
  await clock.advance(1)
  await waitEventLoopTurns(3)
  await clock.advance(2_000)
  await waitEventLoopTurns(3)
  expect({ asked, intervals }).toEqual({ asked: 2, intervals: 14 })
  poller.close()
})
