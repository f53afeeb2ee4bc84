import { useLocation } from 'wouter'
import { useUi } from '../../stores/ui.ts'
import { focusAdjacentRow } from './row-navigation.ts'
import { destinations, useShortcuts } from '../../stores/shortcuts.ts'
import { useKeyboard } from '../../stores/keyboard.ts'

/** Shortcuts of every page. */
export function useGlobalShortcuts(): void {
  const [, navigate] = useLocation()
  const { setPaletteOpen, setNewProjectOpen } = useUi.getState()
  useShortcuts({
    palette: () => setPaletteOpen(!useUi.getState().palette_open),
    'new-project': () => setNewProjectOpen(true),
    sheet: () => useKeyboard.getState().setShortcutsOpen(true),
    'go-projects': () => navigate(destinations['go-projects']),
    'go-domains': () => navigate(destinations['go-domains']),
    'go-instance': () => navigate(destinations['go-instance']),
    'go-account': () => navigate(destinations['go-account']),
    'go-instances': () => navigate(destinations['go-instances']),
    'go-help': () => navigate(destinations['go-help']),
    down: (_, keys) => focusAdjacentRow(1, keys),
    up: (_, keys) => focusAdjacentRow(-1, keys),
  })
}
