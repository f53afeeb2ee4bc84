import { useEffect, useState } from 'react'
import type { DesktopChange, DesktopState } from '../../../preload/bridge.ts'
import { useUi } from '../../stores/ui.ts'

/** Desktop settings, updated live; null until loaded. */
export function useDesktopState(): { desktop: DesktopState | null; changeDesktop: (change: DesktopChange) => void } {
  const [desktop, setDesktop] = useState<DesktopState | null>(null)
  const fail = (error: unknown) => useUi.getState().showToast({ kind: 'failed', text: errorText(error), request_id: null })
  useEffect(() => {
    const unsubscribe = window.homeport?.onDesktopState(setDesktop)
    window.homeport?.readDesktop().then(setDesktop, fail)
    return unsubscribe
  }, [])
  return {
    desktop,
    changeDesktop(change) {
      // Updates the switch optimistically; the system's result follows.
      setDesktop((before) => before && { ...before, ...change })
      window.homeport?.changeDesktop(change).then(setDesktop, (error: unknown) => {
        fail(error)
        void window.homeport?.readDesktop().then(setDesktop)
      })
    },
  }
}

/** Electron prefixes error messages with the channel. */
function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/^Error invoking remote method '[^']*': (?:\w*Error: )?/, '')
}
