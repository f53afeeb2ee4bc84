import { newSeed } from '../support/corpus.ts'
import { isolationSuite } from './isolation-suite.ts'

isolationSuite({ requests: 100_000, projects: 20, seed: newSeed() })
