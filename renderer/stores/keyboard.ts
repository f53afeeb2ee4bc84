import { create } from 'zustand'
import { readPreference, writePreference } from './ui.ts'

interface KeyboardStore {
  /** Whether single-character shortcuts are on. They disturb users of dictation. */
  has_single_keys: boolean
  is_shortcuts_open: boolean
  setSingleKeys(on: boolean): void
  setShortcutsOpen(open: boolean): void
}

const singleKeysKey = 'homeport.single-keys'

export const useKeyboard = create<KeyboardStore>((set) => ({
  has_single_keys: readPreference(singleKeysKey) !== 'off',
  is_shortcuts_open: false,
  setSingleKeys(on) {
    writePreference(singleKeysKey, on ? 'on' : 'off')
    set({ has_single_keys: on })
  },
  setShortcutsOpen: (is_shortcuts_open) => set({ is_shortcuts_open }),
}))
