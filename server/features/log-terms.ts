/** A search in logs: terms that all must be in a line. */
export interface LogTerms {
  /** A query of FTS5 that finds every part of a log with such a line, and others. Null: any part may have one. */
  match: string | null
  matches(line: string): boolean
}

/** A word as the index knows it: other scripts do not separate words by spaces, so that the index would miss the middle of a sentence. */
const indexedWordPattern = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_]+/gu
const otherWordPattern = /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_\p{P}\p{S}\p{Z}\s]/u

export function parseLogTerms(query: string): LogTerms {
  const terms = Array.from(query.matchAll(/"([^"]+)"|(\S+)/g), ([, quoted, plain]) => fold(quoted ?? plain ?? '')).filter((term) => term !== '')
  const words = terms.flatMap(toIndexQueries)
  const patterns = terms.map(toPattern)
  return {
    match: words.length === 0 ? null : words.join(' AND '),
    matches: (line) => {
      const folded = fold(line)
      return patterns.every((pattern) => pattern.test(folded))
    },
  }
}

/** Only the last word of a term may go on. */
function toIndexQueries(term: string): string[] {
  if (otherWordPattern.test(term)) return []
  return Array.from(term.matchAll(indexedWordPattern), ({ 0: word, index }) => `"${word}"${index + word.length === term.length ? '*' : ''}`)
}

/** A term that starts with a letter or digit is found only at the start of a word. */
function toPattern(term: string): RegExp {
  const isWord = /^[\p{L}\p{N}_]/u.test(term) && !otherWordPattern.test(term)
  return new RegExp(`${isWord ? String.raw`(?<![\p{L}\p{N}_])` : ''}${term.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)}`, 'u')
}

const plainPattern = /^[\x20-\x7e]*$/

/** Without case and accents, like the index. */
function fold(text: string): string {
  const lower = text.toLowerCase()
  return plainPattern.test(lower) ? lower : lower.normalize('NFD').replaceAll(/\p{M}/gu, '')
}
