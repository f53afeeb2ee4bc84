import { describe } from 'vitest'
import { useDeploymentContext } from './deployment-suite.ts'
import { volumeUploadsSuite } from './volume-uploads-suite.ts'

describe('archives into volumes, as processes', () => volumeUploadsSuite(useDeploymentContext('process')))
