import { useSyncExternalStore } from 'react'

/** Below this the top of a list is still in view. */
const threshold_px = 120

function subscribe(onChange: () => void): () => void {
  window.addEventListener('scroll', onChange, { passive: true })
  return () => window.removeEventListener('scroll', onChange)
}

/** Whether the page is scrolled away from its top. */
export const useIsScrolled = (): boolean => useSyncExternalStore(subscribe, () => window.scrollY > threshold_px)
