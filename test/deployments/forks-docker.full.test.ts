import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { forkSuite } from './fork-suite.ts'

describe.skipIf(!requires('docker').ok)('forks on Docker', () => forkSuite('docker'))
