/** Characters with a meaning for a shell. */
const shellSyntax = /[$&|;<>()`"'\\*?[\]{}~#!\n\r]|(^|\s)\w+=/

/**
 * A command as arguments. Plain words are split. Text with shell syntax is run by a shell, which is replaced by the program with `exec` if the text
 * text is a single command.
 */
export function parseCommand(text: string): string[] {
  const trimmed = text.trim()
  if (trimmed === '') return []
  return shellSyntax.test(trimmed) ? ['/bin/sh', '-c', trimmed] : trimmed.split(/\s+/)
}

/**
 * Splits text into words by the quoting rules of a shell, without running one: compose does this with a `command` that is text. null when a quote is
 * open.
 */
export function splitWords(text: string): string[] | null {
  const words: string[] = []
  let word: string | null = null
  let quoteMark = ''
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? ''
    if (quoteMark === "'") {
      if (character === "'") quoteMark = ''
      else word += character
    } else if (quoteMark === '"') {
      const next = text[index + 1] ?? ''
      if (character === '"') quoteMark = ''
      else if (character === '\\' && '"\\$`'.includes(next) && next !== '') {
        word += next
        index += 1
      } else word += character
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word)
      word = null
    } else if (character === "'" || character === '"') {
      quoteMark = character
      word ??= ''
    } else if (character === '\\') {
      index += 1
      // A backslash at the end of a line joins it with the next one.
      if (text[index] !== '\n') word = (word ?? '') + (text[index] ?? '')
    } else word = (word ?? '') + character
  }
  if (quoteMark !== '') return null
  if (word !== null) words.push(word)
  return words
}
