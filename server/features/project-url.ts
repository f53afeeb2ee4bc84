import type { Tx } from '../store/store.ts'
import { listVerifiedHostnames } from '../store/domains.ts'
import type { ProjectRow } from '../store/tables.ts'

/** The production hostnames of a project; the first is its own. */
export const listProductionHostnames = (tx: Tx, { id, slug }: Pick<ProjectRow, 'id' | 'slug'>, appsDomain: string | null): string[] => [
  `${slug}.localhost`,
  ...(appsDomain === null ? [] : [`${slug}.${appsDomain}`]),
  ...listVerifiedHostnames(tx, id),
]

export interface ProjectUrl {
  /** Undefined: any hostname. */
  host: string | undefined
  target: string
  is_secure: boolean
}

/**
 * Parses a path or a URL with one of these hostnames to a request target for the edge. Path and query are kept as written, including `..`
 * and escapes. Scheme, port and fragment are ignored.
 */
export function parseProjectUrl(text: string, hostnames: readonly string[]): ProjectUrl | { error: string } {
  const url = text.trim().toWellFormed()
  if (url.startsWith('/')) return { host: undefined, target: normalizeRequestTarget(url), is_secure: false }
  const [origin, authority = ''] = /^https?:\/\/([^/?#\\]*)/i.exec(url) ?? []
  if (origin === undefined || authority.includes('@') || !URL.canParse(origin))
    return { error: 'Use a path that starts with /, or a full URL such as http://my-app.localhost/news.' }
  const host = new URL(origin).hostname.replace(/\.$/, '')
  if (!hostnames.includes(host)) return { error: `${host} is not a hostname of this project. Its hostnames are ${hostnames.join(', ')}.` }
  return { host, target: normalizeRequestTarget(url.slice(origin.length)), is_secure: /^https/i.test(origin) }
}

function normalizeRequestTarget(rest: string): string {
  const target = rest.replace(/#.*$/s, '')
  // Encoded as a browser would send it.
  const escaped = target.replace(/[^\x21-\x7e]+/g, encodeURIComponent)
  return escaped.startsWith('/') ? escaped : `/${escaped}`
}
