import { describe } from 'vitest'
import { useDeploymentContext } from './deployment-suite.ts'
import { replicasSuite } from './replicas-suite.ts'

describe('replicas as processes', () => replicasSuite(useDeploymentContext('process')))
