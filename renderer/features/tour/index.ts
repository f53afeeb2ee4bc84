/** What other features may use. */
export { TourSlot } from './tour-slot.tsx'
