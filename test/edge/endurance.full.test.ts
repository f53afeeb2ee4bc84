import { freshSeed } from '../support/corpus.ts'
import { endure } from './endurance.ts'

endure(1_000, freshSeed())
