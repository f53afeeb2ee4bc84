import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRuntimes } from '../../server/runtime/index.ts'
import { requires } from '../support/requirements.ts'
import { startApp } from '../support/runtime.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'
import { runtimeSuite } from './suite.ts'
import { serviceRequest } from './suite-services.ts'
import { createSwarmDriver, withSwarm } from './swarm-driver.ts'

describe.skipIf(!requires('swarm').ok)('swarm runtime', () => {
  let swarm: TestSwarm
  // Before the suite's own preparations, which build on it.
  beforeAll(async () => {
    swarm = await startSwarm(1)
  }, 180_000)
  afterAll(() => swarm.remove())
  const swarmDriver = createSwarmDriver(() => swarm)
  const suite = runtimeSuite(swarmDriver)

  test('the doctor finds nothing wrong, the address of published ports included', async () => {
    expect((await suite.runtime.check!(true)).map(({ name, status }) => [name, status])).toEqual([['swarm', 'ok']])
  })

  test('the docker runtime of the same engine takes nothing of the swarm for its own', async () => {
    const { runtime, app } = suite
    const forever = { command: ['node', '-e', 'setInterval(() => {}, 1000)'] }
    const volumes = [{ id: `${app.project_id}.data`, path: '/srv/data', is_read_only: false }]
    const moving = await startApp(runtime, app, { service: serviceRequest(forever) })
    const pinned = await startApp(runtime, app, { service: serviceRequest({ ...forever, name: 'pinned', volumes }) })
    expect((await runtime.list()).map(({ service }) => service)).toEqual(['worker', 'pinned'])
    const docker = createRuntimes(withSwarm(suite.options, swarm)).docker
    expect(await docker.list()).toEqual([])
    await docker.close()
    await moving.stop()
    await pinned.stop()
    await runtime.removeVolumes(`${app.project_id}.`)
  })
})
