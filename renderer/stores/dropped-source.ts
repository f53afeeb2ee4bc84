import { create } from 'zustand'
import type { DroppedSource } from '../lib/dropped-source.ts'

/** The source that was dropped on the project list, for the dialog that opens. */
export const useDroppedSource = create<{ source: DroppedSource | null; setSource(dropped: DroppedSource | null): void }>((set) => ({
  source: null,
  setSource: (source) => set({ source }),
}))
