import { enduranceSuite } from './endurance-suite.ts'

enduranceSuite(6, 20_261_121)
