import { describe } from 'vitest'
import { sleepStories } from './sleep-stories.ts'

describe('sleep on process', () => sleepStories('process', { crowd: 200 }))
