/** Parts of a path that are kept; the rest of a longer path is `*`. */
const maxSegments = 10
const maxLength = 200
/** Templates of recent paths, because most paths repeat. */
const maxCached = 20_000
const cache = new Map<string, string>()

/** The route of a path: `/users/17/posts` is `/users/:id/posts`. Parts that look like an ID, a date, an address or a token become placeholders. */
export function toRouteTemplate(path: string): string {
  const cached = cache.get(path)
  if (cached !== undefined) return cached
  const segments = path.split('/')
  const kept = segments.slice(0, maxSegments + 1).map(toSegmentTemplate)
  if (segments.length > kept.length) kept.push('*')
  const template = kept.join('/').slice(0, maxLength)
  if (path.length > maxLength) return template
  if (cache.size >= maxCached) cache.clear()
  cache.set(path, template)
  return template
}

/** A part of a path that is no longer than this is a placeholder only if it has one of these characters. */
const maxPlainLength = 40
const isSuspicious = /[\d@%]/

/**
 * Patterns of SQLite's GLOB for the paths of a route: each path matches `included` or is longer than `min_length`, and none matches `excluded`. Few other
 * paths do the same.
 */
export function toRoutePatterns(route: string): { included: string; excluded: string | null; min_length: number } {
  const toPattern = (text: string, placeholder: string): string =>
    text
      .split(/:[a-z]*/)
      .map((part) => part.replace(/[?[*]/g, '[$&]'))
      .join(placeholder)
  // The end of such a route is not that of its paths.
  const isCut = route.endsWith('/*') || route.length >= maxLength
  return {
    included: isCut ? `${toPattern(route.replace(/\*$/, ''), '*')}*` : toPattern(route, '*[0-9@%:]*'),
    excluded: isCut ? null : `${toPattern(route, '*')}/*`,
    min_length: maxPlainLength,
  }
}
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const date = /^\d{4}-\d\d(?:-\d\d)?(?:T[\d:.%A-Fa-f]+Z?)?$/
/** `prj_01jx...`, `cus-9s6XKzk`: a short name in front of an ID. */
const prefixed = /^[a-z]{2,12}[_-](?=[0-9a-z]*\d[a-z])[0-9a-z]{8,}$/i
/** `index-BxK3h2aQ.js`: the digest in the name of a built file. */
const hashedFile = /^(.*[.-])(?=\w*\d[A-Za-z])\w{8,}((?:\.[a-z]\w{0,4}){1,2})$/
const file = /^(.+?)((?:\.[a-z]\w{0,4}){1,2})$/i

function toSegmentTemplate(segment: string): string {
  if (segment.length <= maxPlainLength && !isSuspicious.test(segment)) return segment
  const whole = classify(segment)
  if (whole !== undefined) return whole
  if (!segment.includes('.')) return segment
  const hashed = hashedFile.exec(segment)
  if (hashed) return `${hashed[1]}:hash${hashed[2]}`
  const [, name = '', extension = ''] = file.exec(segment) ?? []
  const placeholder = name === '' ? undefined : classify(name)
  return placeholder === undefined ? segment : placeholder + extension
}

function classify(text: string): string | undefined {
  if (/^[+-]?\d+$/.test(text) || uuid.test(text)) return ':id'
  if (date.test(text)) return ':date'
  if (/.(?:@|%40)./i.test(text)) return ':email'
  const hasDigit = /\d/.test(text)
  // Hexadecimal digests and object IDs, ULIDs and IDs with a prefix.
  if (hasDigit && text.length >= 8 && (/^[0-9a-f]{8,}$/i.test(text) || /^[0-9A-HJKMNP-TV-Z]{26}$/i.test(text) || prefixed.test(text))) return ':id'
  if (isToken(text, hasDigit)) return ':token'
  return undefined
}

/** Long random text, and not words with hyphens. */
function isToken(text: string, hasDigit: boolean): boolean {
  if (text.length < 16) return false
  if (text.length > 80) return true
  if (/^[\w-]+\.[\w-]+\.[\w-]{10,}$/.test(text) && text.length > 40) return true
  const longest = Math.max(...text.split(/[-_.~=]/).map((part) => part.length))
  return hasDigit && /[a-z]/i.test(text) && longest >= 16
}
