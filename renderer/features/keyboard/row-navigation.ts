/**
 * Goes up and down the list of the page that is marked `data-rows`, by the first link of each of its items. It begins at what is in sight.
 * Lists that are only drawn in part draw more while the focus moves on.
 */
export function focusAdjacentRow(step: 1 | -1, key: string): boolean {
  const list = document.querySelector('main [data-rows]')
  const rows = [...(list?.querySelectorAll<HTMLElement>(':scope > li') ?? [])]
    .map((row) => row.querySelector<HTMLElement>('a[href]'))
    .filter((link) => link !== null)
    .toSorted((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
  const at = rows.findIndex((link) => link.closest('li')?.contains(document.activeElement))
  // Arrows scroll the page until somebody is in the list; j and k lead into it.
  if (at === -1 && key.startsWith('arrow')) return false
  const next = at === -1 ? rows.find((link) => link.getBoundingClientRect().top >= 0) : rows[at + step]
  next?.focus({ preventScroll: true })
  next?.closest('li')?.scrollIntoView({ block: 'nearest' })
  return at !== -1 || next !== undefined
}
