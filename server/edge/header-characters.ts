/** Bytes that are valid in a header name (RFC 9110 token). */
export const isTokenChar = createCharTable((byte) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(byte)))

/** Bytes that are valid in a header value: visible characters, space, tab, and the bytes above 127 that apps send in practice. */
export const isFieldValueChar = createCharTable((byte) => byte === 9 || (byte >= 32 && byte !== 127))

/** Bytes that the fast path accepts in a header name: letters, digits and the hyphen. `_` and `.` can disguise a header name. */
export const isFastPathNameChar = createCharTable((byte) => /[A-Za-z0-9-]/.test(String.fromCharCode(byte)))

/** Bytes that the fast path accepts in a header value: printable ASCII. */
export const isFastPathValueChar = createCharTable((byte) => byte >= 32 && byte < 127)

/** Bytes that the fast path accepts in a request target. */
export const isFastPathTargetChar = createCharTable((byte) => byte > 32 && byte < 127 && byte !== 35 && byte !== 92)

function createCharTable(test: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (test(byte) ? 1 : 0))
}

/** Whether the bytes from `start` equal this lower-case name, ignoring case. The caller has compared the lengths. */
export function matchesIgnoreCase(bytes: Uint8Array, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) if (((bytes[start + i] ?? 0) | 32) !== name.charCodeAt(i)) return false
  return true
}
