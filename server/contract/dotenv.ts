/** Reads and writes `.env` files by the rules of the npm package `dotenv`, for the command line and the dashboard. */

/** The grammar of `dotenv`: a value may be surrounded by white space, including line breaks. */
const assignmentPattern =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm

/** Keys and values in order of appearance; the last value of a repeated key wins. Lines that are not assignments are skipped. */
export function parseDotenv(text: string): { key: string; value: string }[] {
  const found = new Map<string, string>()
  for (const { key, value } of parseDotenvLines(text).entries) {
    found.delete(key)
    found.set(key, value)
  }
  return [...found].map(([key, value]) => ({ key, value }))
}

/** All assignments with their first line (from 1), and the lines that are not an assignment, a comment or empty. */
export function parseDotenvLines(text: string): { entries: { key: string; value: string; line: number }[]; invalidLines: number[] } {
  const entries: { key: string; value: string; line: number }[] = []
  const invalidLines: number[] = []
  let offset = 0
  let count = 1
  const collectInvalidLines = (part: string) => {
    for (const [index, one] of part.split('\n').entries()) if (/^\s*[^\s#]/.test(one)) invalidLines.push(count + index)
  }
  const normalized = text.replace(/\r\n?/g, '\n')
  for (const { 0: whole, 1: key = '', 2: raw = '', index } of normalized.matchAll(assignmentPattern)) {
    const skippedText = normalized.slice(offset, index)
    collectInvalidLines(skippedText)
    count += countLineBreaks(skippedText)
    entries.push({ key, value: unquote(raw.trim()), line: count + countLineBreaks(whole.slice(0, whole.length - whole.trimStart().length)) })
    count += countLineBreaks(whole)
    offset = index + whole.length
  }
  collectInvalidLines(normalized.slice(offset))
  return { entries, invalidLines }
}

function countLineBreaks(text: string): number {
  return text.split('\n').length - 1
}

function unquote(raw: string): string {
  const quoted = /^(['"`])([\s\S]*)\1$/.exec(raw)
  const value = quoted?.[2] ?? raw
  return raw.startsWith('"') ? value.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : value
}

/**
 * Writes lines that parse back to the same values. A few values have no representation in this format (such as all three kinds of
 * quotes together with a line break): their keys are in `left_out`, and a comment takes their place.
 */
export function formatDotenv(variables: readonly { key: string; value: string }[]): { text: string; left_out: string[] } {
  const left_out: string[] = []
  let text = ''
  for (const { key, value } of variables) {
    const formatted = formatValue(value)
    if (formatted === undefined) left_out.push(key)
    text += formatted === undefined ? `# ${key} has a value that this format cannot represent.\n` : `${key}=${formatted}\n`
  }
  return { text, left_out }
}

/** The result never has an open quote, because a later line could close it. */
function formatValue(value: string): string | undefined {
  if (value === '' || (/^[^\s'"`#][^#\n\r]*$/.test(value) && value.trim() === value)) return value
  if (value.endsWith('\\')) return undefined
  const plain = value.includes('\r') ? undefined : ["'", '`'].find((quote) => !value.includes(quote))
  if (plain !== undefined) return plain + value + plain
  return value.includes('"') || /\\[nr]/.test(value) ? undefined : `"${value.replaceAll('\r', '\\r')}"`
}
