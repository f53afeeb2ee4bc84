import { newSeed } from '../support/corpus.ts'
import { enduranceSuite } from './endurance-suite.ts'

enduranceSuite(1_000, newSeed())
