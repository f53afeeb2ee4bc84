import type { Project } from '../../../server/contract/projects.ts'
import { useHttps, useInstance } from '../../api/queries.ts'

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

/** The same over HTTPS, once this machine trusts the certificates; null before. Who trusts is for the owner to know. */
export function useSecureAddress(slug: Project['slug']): string | null {
  const session = useInstance().data
  const edgeUrl = session?.instance.edge_https_url ?? null
  const { data: https } = useHttps(edgeUrl !== null && session?.user.is_instance_owner === true)
  const isTrusted = https?.trust.some(({ status }) => status === 'trusted') ?? false
  return edgeUrl !== null && isTrusted && edgeUrl.startsWith('https://') && URL.canParse(edgeUrl) ? addressOf(slug, edgeUrl) : null
}

/** An address as people say it: without the scheme. */
export function spoken(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '')
}
