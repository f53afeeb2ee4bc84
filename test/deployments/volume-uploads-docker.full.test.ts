import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { volumeUploadsSuite } from './volume-uploads-suite.ts'

describe.skipIf(!requires('docker').ok)('archives into volumes, in containers', () => volumeUploadsSuite(useDeploymentContext('docker')))
