import { newSeed } from '../support/corpus.ts'
import { logSuite } from './log-suite.ts'

const seed = newSeed()
console.log(`cuts of log streams: seed ${seed}`)
logSuite({ count: 100_000, cuts: 20, seed, memory_mb: 60, detail_ms: 1_000 })
