import { describe } from 'vitest'
import { createDockerView } from '../support/docker.ts'
import { readInstanceId } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { quarantineSuite } from './quarantine-suite.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  quarantineSuite(
    'docker',
    async (deploymentId, { data_dir, log }) => (await createDockerView(readInstanceId(data_dir, log)).findApp(deploymentId)) !== undefined,
  )
})
