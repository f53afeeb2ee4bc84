/** The parts that other features may use. */
export { durationChoices, statusChoices } from './filters.ts'
