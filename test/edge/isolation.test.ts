import { isolationSuite } from './isolation-suite.ts'

isolationSuite({ requests: 1_400, projects: 4, seed: 20_261_121 })
