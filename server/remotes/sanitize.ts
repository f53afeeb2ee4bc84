/** Removes unsafe links and the token from a response of another instance. */
export function sanitizeResponse<T>(value: T, token: string): T
export function sanitizeResponse(value: unknown, token: string): unknown {
  return mapStrings(value, '', (text, key) => {
    const masked = maskToken(text, token)
    return linkKey.test(key) && !isSafeLink(masked, key) ? '' : masked
  })
}

/** A short token is not masked, because it would match anywhere. */
export const maskToken = (text: string, token: string): string => (token.length >= 8 ? text.replaceAll(token, '•••') : text)

const linkKey = /(^|_)(url|urls|href|link|links|origin)$/

/** Detects the scheme as a browser does, which ignores control characters and spaces before and inside it. */
function isSafeLink(text: string, key: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are what browsers ignore
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text.replace(/[\u0000-\u0020\u007f]/g, ''))?.[1]?.toLowerCase()
  if (scheme === undefined || scheme === 'http' || scheme === 'https') return true
  // A repository URL is never opened, only displayed and sent back.
  return key === 'repo_url' && ['ssh', 'git', 'file'].includes(scheme)
}

function mapStrings(value: unknown, key: string, transform: (text: string, key: string) => string): unknown {
  if (typeof value === 'string') return transform(value, key)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, key, transform))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [transform(name, ''), mapStrings(item, name, transform)]))
}
