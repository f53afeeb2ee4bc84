/** Reading and writing `.env` files by the rules of the npm package `dotenv`, for the command line and the dashboard. */

/** The grammar as that package has it: white space, line ends included, may stand around a value. */
const line = /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm

/** Keys and values in their order; of a key that comes twice the last counts. Lines that are no assignment are left out. */
export function parseDotenv(text: string): { key: string; value: string }[] {
  const found = new Map<string, string>()
  for (const [, key = '', raw = ''] of text.replace(/\r\n?/g, '\n').matchAll(line)) {
    found.delete(key)
    found.set(key, unquote(raw.trim()))
  }
  return [...found].map(([key, value]) => ({ key, value }))
}

function unquote(raw: string): string {
  const quoted = /^(['"`])([\s\S]*)\1$/.exec(raw)
  const value = quoted?.[2] ?? raw
  return raw.startsWith('"') ? value.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : value
}

/**
 * Lines that read back as the very same values. A few values cannot be written in this format (all three kinds of quotes
 * together with a line break, say): their keys are in `left_out`, and a comment stands in their place.
 */
export function formatDotenv(variables: readonly { key: string; value: string }[]): { text: string; left_out: string[] } {
  const left_out: string[] = []
  let text = ''
  for (const { key, value } of variables) {
    const form = formOf(value)
    if (form === undefined) left_out.push(key)
    text += form === undefined ? `# ${key} has a value that this format cannot hold.\n` : `${key}=${form}\n`
  }
  return { text, left_out }
}

/** Never with an open quote that could find its end in another line. */
function formOf(value: string): string | undefined {
  if (value === '' || (/^[^\s'"`#][^#\n\r]*$/.test(value) && value.trim() === value)) return value
  if (value.endsWith('\\')) return undefined
  const plain = value.includes('\r') ? undefined : ["'", '`'].find((quote) => !value.includes(quote))
  if (plain !== undefined) return plain + value + plain
  return value.includes('"') || /\\[nr]/.test(value) ? undefined : `"${value.replaceAll('\r', '\\r')}"`
}
