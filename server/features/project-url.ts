import type { Tx } from '../store/store.ts'
import { findProject } from '../store/projects.ts'
import { listVerifiedHostnames } from '../store/domains.ts'

/** Every name that a project answers to in production; the first is its own. */
export function listProductionHostnames(tx: Tx, projectId: string): string[] {
  const slug = findProject(tx, projectId)?.slug
  const custom = listVerifiedHostnames(tx, projectId)
  return [...(slug === undefined ? [] : [`${slug}.localhost`]), ...custom]
}

export interface ProjectUrl {
  /** Undefined: any name. */
  host: string | undefined
  target: string
  is_secure: boolean
}

/**
 * A path, or a whole address at one of these names, as the edge is asked for it: the path and query as they were written, so
 * that a `..` or an escape stays what it is. The scheme, the port and the fragment make no difference.
 */
export function parseProjectUrl(text: string, hostnames: readonly string[]): ProjectUrl | { error: string } {
  const url = text.trim().toWellFormed()
  if (url.startsWith('/')) return { host: undefined, target: normalizeRequestTarget(url), is_secure: false }
  const [origin, authority = ''] = /^https?:\/\/([^/?#\\]*)/i.exec(url) ?? []
  if (origin === undefined || authority.includes('@') || !URL.canParse(origin))
    return { error: 'Give a path that begins with /, or a whole address such as http://my-app.localhost/news.' }
  const host = new URL(origin).hostname.replace(/\.$/, '')
  if (!hostnames.includes(host)) return { error: `${host} is no name of this project. Its names are ${hostnames.join(', ')}.` }
  return { host, target: normalizeRequestTarget(url.slice(origin.length)), is_secure: /^https/i.test(origin) }
}

function normalizeRequestTarget(rest: string): string {
  const target = rest.replace(/#.*$/s, '')
  // As a browser would send it.
  const escaped = target.replace(/[^\x21-\x7e]+/g, encodeURIComponent)
  return escaped.startsWith('/') ? escaped : `/${escaped}`
}
