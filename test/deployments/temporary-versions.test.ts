import { describe } from 'vitest'
import { findProcessesByCommand } from '../support/processes.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { temporaryVersionsSuite } from './temporary-versions-suite.ts'

describe('temporary versions on process', () => {
  temporaryVersionsSuite(useDeploymentContext('process'), async (id) => findProcessesByCommand(id).length > 0)
})
