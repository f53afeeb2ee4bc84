import { freshSeed } from '../support/corpus.ts'
import { logStories } from './log-stories.ts'

const seed = freshSeed()
console.log(`cuts of log streams: seed ${seed}`)
logStories({ count: 100_000, cuts: 20, seed, memory_mb: 60, detail_ms: 1_000 })
