import { databaseStories } from './stories.ts'

databaseStories('process')
