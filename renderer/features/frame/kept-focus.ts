import { useEffect } from 'react'
import { isLost } from '../../ui/way-back.ts'

/** What a person knows as a place, and what can tell its name. */
const places = 'section, main, [role=region], [role=dialog]'

/**
 * What has the focus and is taken off the page (a row that is deleted, a page that is left) hands it to the nearest place
 * around it that stays: who goes by keys goes on from there, and not from the top of the window.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let focused: Element | null = null
    let around: HTMLElement[] = []
    const remember = ({ target }: FocusEvent) => {
      focused = target instanceof Element ? target : null
      around = []
      for (let at = focused?.parentElement; at; at = at.parentElement) if (at.matches(places)) around.push(at)
    }
    const observer = new MutationObserver(() => {
      if (focused === null || focused.isConnected || !isLost()) return
      focused = null
      // Of what lay over the page nothing is left: whoever closed it sends the focus back.
      const place = around.find(({ isConnected }) => isConnected)
      if (!place) return
      if (!place.hasAttribute('tabindex')) place.tabIndex = -1
      place.focus({ preventScroll: true })
    })
    document.addEventListener('focusin', remember)
    observer.observe(document.body, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', remember)
      observer.disconnect()
    }
  }, [])
}
