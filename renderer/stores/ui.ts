import { create } from 'zustand'
import type { HelpTopic } from '../../server/contract/help.ts'
import { useConnection } from './connection.ts'

export type Theme = 'light' | 'dark' | 'system'

export interface Toast {
  id: number
  /** The instance that the toast belongs to; it is shown only while that instance is current. */
  of: string
  kind: 'done' | 'failed'
  text: string
  request_id: string | null
  /** Help topic of the error. */
  help?: HelpTopic | null
}

interface UiStore {
  theme: Theme
  palette_open: boolean
  sidebar_open: boolean
  new_project_open: boolean
  toasts: Toast[]
  setTheme(theme: Theme): void
  setPaletteOpen(open: boolean): void
  setSidebarOpen(open: boolean): void
  setNewProjectOpen(open: boolean): void
  showToast(toast: Omit<Toast, 'id' | 'of'> & { of?: string }): void
  dismissToast(id: number): void
}

const themeKey = 'homeport.theme'
let lastToastId = 0

export const useUi = create<UiStore>((set) => ({
  theme: readTheme(),
  palette_open: false,
  sidebar_open: false,
  new_project_open: false,
  toasts: [],
  setTheme(theme) {
    writePreference(themeKey, theme)
    applyTheme(theme)
    set({ theme })
  },
  setPaletteOpen: (palette_open) => set({ palette_open }),
  setSidebarOpen: (sidebar_open) => set({ sidebar_open }),
  setNewProjectOpen: (new_project_open) => set({ new_project_open }),
  showToast: (toast) =>
    set((state) => ({ toasts: [...state.toasts.slice(-2), { of: useConnection.getState().current.id, ...toast, id: ++lastToastId }] })),
  dismissToast: (id) => set((state) => ({ toasts: state.toasts.filter((toast) => toast.id !== id) })),
}))

// Open dialogs belong to their instance.
useConnection.subscribe(({ current }, before) => {
  if (current.id !== before.current.id) useUi.setState({ palette_open: false, sidebar_open: false, new_project_open: false })
})

/** Style sheets use `data-theme`; without it they follow the system. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

function readTheme(): Theme {
  const theme = readPreference(themeKey)
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** UI preferences in localStorage; missing storage is not an error. */
export function readPreference(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export function writePreference(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Private windows may block storage; the setting then lasts as long as the page.
  }
}
