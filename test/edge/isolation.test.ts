import { isolate } from './isolation.ts'

isolate({ requests: 4_000, projects: 4, seed: 20_261_121 })
