import { uploadSuite } from './upload-suite.ts'

uploadSuite({ hostile_every: 10, mutated: 60, killed_at: [0.5], has_large: false })
