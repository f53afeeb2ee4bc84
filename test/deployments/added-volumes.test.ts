import { describe } from 'vitest'
import { addedVolumesSuite } from './added-volumes-suite.ts'
import { useDeploymentContext } from './deployment-suite.ts'

describe('volumes without a configuration file, as processes', () => {
  addedVolumesSuite(useDeploymentContext('process'))
})
