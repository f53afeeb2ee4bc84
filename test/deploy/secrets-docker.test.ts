import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { secretStories } from './secrets.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => secretStories('docker'))
