import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { secretSinks } from './secrets.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => secretSinks('docker'))
