import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { secretLeakSuite } from './secrets.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => secretLeakSuite('docker'))
