import { describe } from 'vitest'
import { commandKillTest, commandSuite } from './command-suite.ts'

describe('one-off commands on process', () => {
  commandSuite('process')
  commandKillTest('process')
})
