import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { deploymentStories } from './stories.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => deploymentStories('docker'))
