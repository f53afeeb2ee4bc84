// Bidirectional and other invisible control characters, which would affect text beyond the name that contains them.
// oxlint-disable-next-line no-control-regex -- control characters are the subject
const invisibleCharacters = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g
const maxLength = 400

/** Control characters of an untrusted text are replaced. */
export const replaceInvisible = (text: string): string => text.replace(invisibleCharacters, '\uFFFD')

/** A text with untrusted names, safe to display: without control characters and of limited length. */
export function sanitizeForDisplay(text: string): string {
  const sanitized = replaceInvisible(text)
  return sanitized.length > maxLength ? `${sanitized.slice(0, maxLength)}…` : sanitized
}
