import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { replicasSuite } from './replicas-suite.ts'

describe.skipIf(!requires('docker').ok)('replicas in containers', () => replicasSuite(useDeploymentContext('docker')))
