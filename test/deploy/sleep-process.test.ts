import { sleepStories } from './sleep-stories.ts'

sleepStories('process')
