import { isolationSuite } from './isolation-suite.ts'

isolationSuite({ requests: 4_000, projects: 4, seed: 20_261_121 })
