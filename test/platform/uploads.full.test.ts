import { uploadSuite } from './upload-suite.ts'

uploadSuite({ hostile_every: 1, mutated: 500, killed_at: [0.1, 0.5, 0.99], has_large: true })
