// What turns the direction of a line, and what no screen draws: of a name that stands inside a sentence, it would reach beyond the name.
// oxlint-disable-next-line no-control-regex -- those are what is meant
const invisibleCharacters = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g
const maxLength = 400

/** A sentence with a name of an instance in it, as it may be shown: without control characters, and of a length that can be read. */
export function sanitizeForDisplay(text: string): string {
  const sanitized = text.replace(invisibleCharacters, '\uFFFD')
  return sanitized.length > maxLength ? `${sanitized.slice(0, maxLength)}…` : sanitized
}
