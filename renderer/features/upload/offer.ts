import { create } from 'zustand'
import type { Dropped } from './archive.ts'

/** What was dropped on the list of projects, for the dialog that opens over it. */
export const useOffer = create<{ offered: Dropped | null; offer(dropped: Dropped | null): void }>((set) => ({
  offered: null,
  offer: (offered) => set({ offered }),
}))
