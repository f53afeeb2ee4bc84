/** What may stand in a header name (RFC 9110 token), by byte. */
export const isTokenChar = createCharTable((byte) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(byte)))

/** What may stand in a header value: visible, space, tab, and the bytes above 127 that apps send in practice. */
export const isFieldValueChar = createCharTable((byte) => byte === 9 || (byte >= 32 && byte !== 127))

/** What the plain path takes in a name: letters, digits and the hyphen. `_` and `.` are how names are disguised. */
export const isFastPathNameChar = createCharTable((byte) => /[A-Za-z0-9-]/.test(String.fromCharCode(byte)))

/** What the plain path takes in a value: the printable part of ASCII. */
export const isFastPathValueChar = createCharTable((byte) => byte >= 32 && byte < 127)

/** What the plain path takes in a request target. */
export const isFastPathTargetChar = createCharTable((byte) => byte > 32 && byte < 127 && byte !== 35 && byte !== 92)

function createCharTable(test: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (test(byte) ? 1 : 0))
}

/** Whether the bytes from `start` spell this name (lower case), whatever their case. The length has been compared. */
export function matchesIgnoreCase(bytes: Uint8Array, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) if (((bytes[start + i] ?? 0) | 32) !== name.charCodeAt(i)) return false
  return true
}
