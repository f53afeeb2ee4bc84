import { useEffect } from 'react'
import { isFocusLost } from '../lib/use-restore-focus.ts'

/** Containers that can take the focus, and the elements that name them. */
const containerSelector = 'section, main, [role=region], [role=dialog]'

/**
 * When the focused element is removed (a deleted row, a closed page), moves the focus to the nearest container that remains, so that keyboard users
 * do not start over at the top of the window.
 */
export function useRestoreLostFocus(): void {
  useEffect(() => {
    let focused: Element | null = null
    let ancestors: HTMLElement[] = []
    const trackFocus = ({ target }: FocusEvent) => {
      focused = target instanceof Element ? target : null
      ancestors = []
      for (let ancestor = focused?.parentElement; ancestor; ancestor = ancestor.parentElement)
        if (ancestor.matches(containerSelector)) ancestors.push(ancestor)
    }
    const observer = new MutationObserver(() => {
      if (focused === null || focused.isConnected || !isFocusLost()) return
      focused = null
      // Focus inside a removed overlay is restored by the overlay itself.
      const container = ancestors.find(({ isConnected }) => isConnected)
      if (!container) return
      if (!container.hasAttribute('tabindex')) container.tabIndex = -1
      container.focus({ preventScroll: true })
    })
    document.addEventListener('focusin', trackFocus)
    observer.observe(document.body, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', trackFocus)
      observer.disconnect()
    }
  }, [])
}
