import { deploymentStories } from './stories.ts'

deploymentStories('process')
