import Docker from 'dockerode'
import { describe } from 'vitest'
import { dockerSocket, requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { temporaryVersionsSuite } from './temporary-versions-suite.ts'

describe.skipIf(!requires('docker').ok)('temporary versions on Docker', () => {
  const docker = new Docker({ socketPath: dockerSocket })
  temporaryVersionsSuite(useDeploymentContext('docker'), async (id) => {
    const filters = { label: [`homeport.deployment=${id}`] }
    return (await docker.listContainers({ filters })).length > 0
  })
})
