import { describe } from 'vitest'
import { commandSuite } from './command-suite.ts'

describe('one-off commands on process', () => commandSuite('process'))
