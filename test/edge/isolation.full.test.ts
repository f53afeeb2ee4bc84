import { freshSeed } from '../support/corpus.ts'
import { isolate } from './isolation.ts'

isolate({ requests: 100_000, projects: 20, seed: freshSeed() })
