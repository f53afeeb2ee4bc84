import { secretStories } from './secrets.ts'

secretStories('process')
