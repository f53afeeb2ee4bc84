import { useEffect } from 'react'
import { isFocusLost } from '../../lib/use-restore-focus.ts'

/** What a person knows as a place, and what can tell its name. */
const containerSelector = 'section, main, [role=region], [role=dialog]'

/**
 * What has the focus and is taken off the page (a row that is deleted, a page that is left) hands it to the nearest place
 * around it that stays: who goes by keys goes on from there, and not from the top of the window.
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
      // Of what lay over the page nothing is left: whoever closed it sends the focus back.
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
