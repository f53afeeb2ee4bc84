import type { Project } from '../../../server/contract/projects.ts'
import { useInstance } from '../../api/queries.ts'

/** Where the edge serves a slug, by the address that the instance gives for its edge. */
export function addressOf(slug: string, edgeUrl: string): string {
  const edge = new URL(edgeUrl)
  const host = /^(127\.|\[::1\]|localhost$)/.test(edge.hostname) ? 'localhost' : edge.hostname
  return `${edge.protocol}//${slug}.${host}${edge.port ? `:${edge.port}` : ''}`
}

/** null as long as the instance has not said where its edge is. */
export function useAddress(slug: Project['slug']): string | null {
  const edgeUrl = useInstance().data?.instance.edge_url
  // What an instance says is data: an address that is none of the web leads nowhere.
  return edgeUrl && /^https?:\/\//.test(edgeUrl) && URL.canParse(edgeUrl) ? addressOf(slug, edgeUrl) : null
}

/** An address as people say it: without the scheme. */
export function spoken(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '')
}
