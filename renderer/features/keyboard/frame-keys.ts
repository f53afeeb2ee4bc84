import { useLocation } from 'wouter'
import { useUi } from '../../stores/ui.ts'
import { stepRow } from './rows.ts'
import { destinations, useShortcuts } from './shortcuts.ts'
import { useKeyboard } from './store.ts'

/** The keys that hold on every page. */
export function useFrameKeys(): void {
  const [, go] = useLocation()
  const { setPaletteOpen, setNewProjectOpen } = useUi.getState()
  useShortcuts({
    palette: () => setPaletteOpen(!useUi.getState().palette_open),
    'new-project': () => setNewProjectOpen(true),
    sheet: () => useKeyboard.getState().setSheetOpen(true),
    'go-projects': () => go(destinations['go-projects']),
    'go-domains': () => go(destinations['go-domains']),
    'go-instance': () => go(destinations['go-instance']),
    'go-account': () => go(destinations['go-account']),
    'go-instances': () => go(destinations['go-instances']),
    'go-help': () => go(destinations['go-help']),
    down: (_, keys) => stepRow(1, keys),
    up: (_, keys) => stepRow(-1, keys),
  })
}
