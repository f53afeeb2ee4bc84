import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { databaseStories } from './stories.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => databaseStories('docker'))
