import { create } from 'zustand'
import { recall, remember } from '../../stores/ui.ts'

interface KeyboardStore {
  /** Whether characters alone do something. Who dictates, or slips, turns them off. */
  has_single_keys: boolean
  is_sheet_open: boolean
  setSingleKeys(on: boolean): void
  setSheetOpen(open: boolean): void
}

const singleKeysKey = 'homeport.single-keys'

export const useKeyboard = create<KeyboardStore>((set) => ({
  has_single_keys: recall(singleKeysKey) !== 'off',
  is_sheet_open: false,
  setSingleKeys(on) {
    remember(singleKeysKey, on ? 'on' : 'off')
    set({ has_single_keys: on })
  },
  setSheetOpen: (is_sheet_open) => set({ is_sheet_open }),
}))
