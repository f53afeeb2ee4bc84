/** The parts that other features may use. */
export { TourSlot } from './tour-slot.tsx'
