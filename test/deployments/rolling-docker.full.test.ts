import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { rollingSuite } from './rolling-suite.ts'

describe.skipIf(!requires('docker').ok)('rolling replacement of containers', () =>
  // Containers share no files, so that a second start cannot know that it is one.
  rollingSuite(useDeploymentContext('docker', undefined, new URL('./low-memory-host.ts', import.meta.url).href), null),
)
