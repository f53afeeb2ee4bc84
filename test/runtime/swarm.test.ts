import { afterAll, beforeAll, describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'
import { runtimeSuite } from './suite.ts'
import { createSwarmDriver } from './swarm-driver.ts'

describe.skipIf(!requires('swarm').ok)('swarm runtime', () => {
  let swarm: TestSwarm
  // Before the suite's own preparations, which build on it.
  beforeAll(async () => {
    swarm = await startSwarm(1)
  }, 180_000)
  afterAll(() => swarm.remove())
  const swarmDriver = createSwarmDriver(() => swarm)
  runtimeSuite(swarmDriver)
})
