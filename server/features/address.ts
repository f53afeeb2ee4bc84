import type { Tx } from '../store/open.ts'
import { findProject } from '../store/projects.ts'

/** Every name that a project answers to in production; the first is its own. */
export function namesOf(tx: Tx, projectId: string): string[] {
  const slug = findProject(tx, projectId)?.slug
  const custom = tx.sqlAll<{ hostname: string }>("SELECT hostname FROM domains WHERE project_id = ? AND status = 'verified' ORDER BY seq", projectId)
  return [...(slug === undefined ? [] : [`${slug}.localhost`]), ...custom.map((row) => row.hostname)]
}

export interface Address {
  /** Undefined: any name. */
  host: string | undefined
  target: string
  is_secure: boolean
}

/**
 * A path, or a whole address at one of these names, as the edge is asked for it: the path and query as they were written, so
 * that a `..` or an escape stays what it is. The scheme, the port and the fragment make no difference.
 */
export function addressIn(text: string, names: readonly string[]): Address | { fault: string } {
  const url = text.trim().toWellFormed()
  if (url.startsWith('/')) return { host: undefined, target: targetOf(url), is_secure: false }
  const [start, authority = ''] = /^https?:\/\/([^/?#\\]*)/i.exec(url) ?? []
  if (start === undefined || authority.includes('@') || !URL.canParse(start))
    return { fault: 'Give a path that begins with /, or a whole address such as http://my-app.localhost/news.' }
  const host = new URL(start).hostname.replace(/\.$/, '')
  if (!names.includes(host)) return { fault: `${host} is no name of this project. Its names are ${names.join(', ')}.` }
  return { host, target: targetOf(url.slice(start.length)), is_secure: /^https/i.test(start) }
}

function targetOf(rest: string): string {
  const target = rest.replace(/#.*$/s, '')
  // As a browser would send it.
  const escaped = target.replace(/[^\x21-\x7e]+/g, encodeURIComponent)
  return escaped.startsWith('/') ? escaped : `/${escaped}`
}
