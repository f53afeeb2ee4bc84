import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { sleepStories } from './sleep-stories.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => sleepStories('docker'))
