import { type RefObject, useEffect, useState } from 'react'

/** For each open dialog: the elements that had the focus before, nearest first. */
const focusTargetsByDialog = new WeakMap<Element, HTMLElement[]>()

/**
 * The focused element when an overlay opens, and fallbacks if it is gone when the overlay closes: from a menu item to the menu's button, from
 * dialog content to the dialog's opener.
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

/** Focuses the first element that still exists, otherwise the main content rather than the top of the window. */
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

/** For a library dialog without its own hook: `inside` refers to its content, and it is open while the calling component is mounted. */
export function useRestoreFocus(contentRef: RefObject<Element | null>): void {
  const [focusTargets] = useState(() => collectFocusTargets(document.activeElement))
  useEffect(() => {
    const dialog = contentRef.current?.closest('[role=dialog]')
    if (dialog) setFocusTargets(dialog, focusTargets)
    return () => void setTimeout(() => isFocusLost() && restoreFocus(focusTargets))
  }, [contentRef, focusTargets])
}
