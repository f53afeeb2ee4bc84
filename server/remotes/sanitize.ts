/** What another instance says is data: nothing in it may be followed as a link that runs, and the token is not in it. */
export function sanitizeResponse<T>(value: T, token: string): T
export function sanitizeResponse(value: unknown, token: string): unknown {
  return mapStrings(value, '', (text, key) => {
    const masked = maskToken(text, token)
    return linkKey.test(key) && !isSafeLink(masked, key) ? '' : masked
  })
}

/** A short token would be found in anything. */
export const maskToken = (text: string, token: string): string => (token.length >= 8 ? text.replaceAll(token, '•••') : text)

const linkKey = /(^|_)(url|urls|href|link|links|origin)$/

/** A scheme is what a browser takes for one: it overlooks control characters and blanks in front and between. */
function isSafeLink(text: string, key: string): boolean {
  // oxlint-disable-next-line no-control-regex -- those are what is overlooked
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text.replace(/[\u0000-\u0020\u007f]/g, ''))?.[1]?.toLowerCase()
  if (scheme === undefined || scheme === 'http' || scheme === 'https') return true
  // Where a repository is: never opened, only shown and sent back.
  return key === 'repo_url' && ['ssh', 'git', 'file'].includes(scheme)
}

function mapStrings(value: unknown, key: string, transform: (text: string, key: string) => string): unknown {
  if (typeof value === 'string') return transform(value, key)
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, key, transform))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [transform(name, ''), mapStrings(one, name, transform)]))
}
