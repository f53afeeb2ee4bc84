import { afterAll, describe } from 'vitest'
import { createDockerView } from '../support/docker.ts'
import { readInstanceId } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'
import { quarantineSuite } from './quarantine-suite.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  quarantineSuite(
    () => ({ runtime: 'docker' }),
    async (deploymentId, { data_dir, log }) => (await createDockerView(readInstanceId(data_dir, log)).findApp(deploymentId)) !== undefined,
  )
})

describe.skipIf(!requires('swarm').ok)('on a cluster', () => {
  let swarm: TestSwarm
  afterAll(() => swarm.remove(), 120_000)

  quarantineSuite(
    async () => {
      swarm = await startSwarm(1)
      return { runtime: 'swarm', docker_candidates: [`unix://${swarm.socket(1)}`], registry: swarm.registry }
    },
    async (deploymentId) => (await swarm.docker(1, ['service', 'ls', '-q', '--filter', `label=homeport.deployment=${deploymentId}`])).trim() !== '',
  )
})
