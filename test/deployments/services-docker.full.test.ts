import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { environmentSuite } from './environment-suite.ts'
import { servicesSuite } from './services-suite.ts'

describe.skipIf(!requires('docker').ok)('on Docker', () => {
  describe('services', () => servicesSuite(useDeploymentContext('docker')))
  describe('environments', () => environmentSuite('docker'))
})
