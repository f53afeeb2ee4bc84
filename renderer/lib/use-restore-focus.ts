import { type RefObject, useEffect, useState } from 'react'

/** Of each dialog that is open: what had the focus before, nearest first. */
const focusTargetsByDialog = new WeakMap<Element, HTMLElement[]>()

/**
 * What had the focus when something opens, and where to go when that is gone by the time it closes: from an item of a menu to
 * the button of the menu, from what is in a dialog to what opened that.
 */
export function collectFocusTargets(element: Element | null): HTMLElement[] {
  if (!(element instanceof HTMLElement) || element === document.body) return []
  const menu = element.closest('[role=menu]')
  const dialog = element.closest('[role=dialog]')
  const button = menu && document.getElementById(menu.getAttribute('aria-labelledby') ?? '')
  return [element, ...collectFocusTargets(button), ...((dialog && focusTargetsByDialog.get(dialog)) ?? [])]
}

export function setFocusTargets(dialog: Element, focusTargets: HTMLElement[]): void {
  focusTargetsByDialog.set(dialog, focusTargets)
}

/** The first that is still there takes the focus; else the page as a whole, never the top of the window. */
export function restoreFocus(focusTargets: readonly HTMLElement[]): void {
  for (const element of focusTargets) {
    element.focus({ preventScroll: true })
    if (document.activeElement === element) return
  }
  document.getElementById('main')?.focus({ preventScroll: true })
}

export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body
}

/** For a dialog of a library that has no word in it itself: what is in it is at `inside`, and it is there as long as whoever asks. */
export function useRestoreFocus(contentRef: RefObject<Element | null>): void {
  const [focusTargets] = useState(() => collectFocusTargets(document.activeElement))
  useEffect(() => {
    const dialog = contentRef.current?.closest('[role=dialog]')
    if (dialog) setFocusTargets(dialog, focusTargets)
    return () => void setTimeout(() => isFocusLost() && restoreFocus(focusTargets))
  }, [contentRef, focusTargets])
}
