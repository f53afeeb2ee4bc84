import { create } from 'zustand'
import type { DroppedSource } from './dropped-source.ts'

/** What was dropped on the list of projects, for the dialog that opens over it. */
export const useDroppedSource = create<{ source: DroppedSource | null; setSource(dropped: DroppedSource | null): void }>((set) => ({
  source: null,
  setSource: (source) => set({ source }),
}))
