import { describe } from 'vitest'
import { useSharedDeploymentContext } from './deployment-suite.ts'
import { environmentSuite } from './environment-suite.ts'
import { servicesSuite } from './services-suite.ts'

describe('services on process', () => servicesSuite(useSharedDeploymentContext('process')))
describe('environments on process', () => environmentSuite('process'))
