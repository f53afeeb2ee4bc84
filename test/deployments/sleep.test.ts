import { describe } from 'vitest'
import { sleepSuite } from './sleep-suite.ts'

describe('sleep on process', () => sleepSuite('process', { crowd: 200 }))
