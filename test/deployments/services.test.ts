import { describe } from 'vitest'
import { useDeploymentContext } from './deployment-suite.ts'
import { environmentSuite } from './environment-suite.ts'
import { servicesSuite } from './services-suite.ts'

describe('services on process', () => servicesSuite(useDeploymentContext('process')))
describe('environments on process', () => environmentSuite('process'))
