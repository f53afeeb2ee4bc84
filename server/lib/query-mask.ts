/** Names of query parameters whose values are secrets: signed links, API keys, and what sign-in flows pass along. */
const secretParameter =
  /(?:token|secret|passw|pwd|pin$|otp|auth(?!or)|api[-_.]?key|^key$|access[-_.]?key|private[-_.]?key|credential|signature|^sig$|session|^sid$|jwt|^code$|^state$|^nonce$|ticket|invite|assertion)/i

export const isSecretParameter = (name: string): boolean => secretParameter.test(name)

/** A query without the values of parameters that look like secrets. Everything else stays as sent. */
export function maskQuery(query: string): string {
  if (!query.includes('=')) return query
  return query
    .split('&')
    .map((part) => {
      const equals = part.indexOf('=')
      return equals > 0 && isSecretParameter(decodeName(part.slice(0, equals))) ? `${part.slice(0, equals)}=***` : part
    })
    .join('&')
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
