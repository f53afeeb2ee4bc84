import { logSuite } from './log-suite.ts'

logSuite({ count: 30_000, cuts: 5, seed: 20_261_121, memory_mb: Infinity, detail_ms: Infinity })
