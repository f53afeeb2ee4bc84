import { endure } from './endurance.ts'

endure(6, 20_261_121)
