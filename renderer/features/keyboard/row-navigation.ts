/**
 * Moves the focus through the list marked `data-rows`, by the first link of each item. It starts at the first visible item. Virtualized lists
 * render more items as the focus moves.
 */
export function focusAdjacentRow(step: 1 | -1, key: string): boolean {
  const list = document.querySelector('main [data-rows]')
  const rows = [...(list?.querySelectorAll<HTMLElement>(':scope > li') ?? [])]
    .map((row) => row.querySelector<HTMLElement>('a[href]'))
    .filter((link) => link !== null)
    .toSorted((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
  const at = rows.findIndex((link) => link.closest('li')?.contains(document.activeElement))
  // Arrow keys scroll the page until an item has focus; j and k move the focus into the list.
  if (at === -1 && key.startsWith('arrow')) return false
  const next = at === -1 ? rows.find((link) => link.getBoundingClientRect().top >= 0) : rows[at + step]
  next?.focus({ preventScroll: true })
  next?.closest('li')?.scrollIntoView({ block: 'nearest' })
  return at !== -1 || next !== undefined
}
