import { describe } from 'vitest'
import { forkSuite } from './fork-suite.ts'

describe('forks on process', () => forkSuite('process'))
