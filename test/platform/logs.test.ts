import { logSuite } from './log-suite.ts'

logSuite({ count: 24_000, cuts: 3, seed: 20_261_121, memory_mb: Infinity, detail_ms: Infinity })
