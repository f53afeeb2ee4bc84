/** A filter as a pattern of SQLite's GLOB: without `*`, the start of a text. SQLite's other wildcards are taken literally. */
export function toGlob(pattern: string): string {
  const escaped = pattern.replace(/[?[]/g, '[$&]')
  return pattern.includes('*') ? escaped : `${escaped}*`
}
