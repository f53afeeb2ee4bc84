import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { portsSuite } from './ports-suite.ts'

describe.skipIf(!requires('docker').ok)('additional ports on Docker', () => portsSuite(useDeploymentContext('docker')))
