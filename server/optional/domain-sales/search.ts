/**
 * The names to search for: the exact one first, then the same label under other suffixes. `Blog` and `blog.test` both give blog.test,
 * blog.internal, … Undefined if the text is not a valid name.
 */
export function suggestHostnames(query: string, endings: readonly string[]): string[] | undefined {
  const parts = query
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '')
    .trim()
    .split('.')
    .map((part) => part.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, ''))
    .filter((part) => part !== '')
  const text = parts.join('.')
  const knownEnding = endings.find((ending) => text.endsWith(`.${ending}`))
  const label =
    knownEnding === undefined
      ? parts.at(parts.length > 1 ? -2 : 0)
      : text
          .slice(0, -knownEnding.length - 1)
          .split('.')
          .at(-1)
  if (label === undefined || parts.some((part) => part.length > 63) || text.length > 240) return undefined
  const exact = parts.length > 1 ? text : `${label}.${endings[0]}`
  return [...new Set([exact, ...endings.map((ending) => `${label}.${ending}`)])]
}
