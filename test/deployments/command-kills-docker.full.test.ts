import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { commandKillTest } from './command-suite.ts'

describe.skipIf(!requires('docker').ok)('one-off commands on Docker', () => commandKillTest('docker'))
