interface TextPart {
  text: string
  is_match: boolean
}

/** Splits a text where a term of a search is in it. Terms are words, or text in double quotes. */
export function highlightWords(text: string, search: string): TextPart[] {
  const terms = Array.from(search.matchAll(/"([^"]+)"|(\S+)/g), ([, quoted, plain]) =>
    (quoted ?? plain ?? '').replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`),
  )
  if (terms.length === 0) return [{ text, is_match: false }]
  // A capturing group keeps the separators, which are then every other part.
  return text
    .split(new RegExp(`(${terms.toSorted((a, b) => b.length - a.length).join('|')})`, 'iu'))
    .map((part, index) => ({ text: part, is_match: index % 2 === 1 }))
    .filter((part) => part.text !== '')
}
