import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { servicesSuite } from './services-suite.ts'

describe('services on process', () => {
  servicesSuite(useDeploymentContext('process'))
})

describe.skipIf(!requires('docker').ok)('services on Docker', () => {
  servicesSuite(useDeploymentContext('docker'))
})
