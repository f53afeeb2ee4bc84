import { logStories } from './log-stories.ts'

logStories({ count: 30_000, cuts: 5, seed: 20_261_121, memory_mb: Infinity, detail_ms: Infinity })
