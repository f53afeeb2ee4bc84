import type { Project } from '../../../server/contract/projects.ts'
import { useHttps, useInstance, useLan } from '../../api/queries.ts'
import { useConnection } from '../../stores/connection.ts'

/** Where the edge serves a slug, by the address that the instance gives for its edge. */
export function addressOf(slug: string, edgeUrl: string): string {
  const edge = new URL(edgeUrl)
  const host = /^(127\.|\[::1\]|localhost$)/.test(edge.hostname) ? 'localhost' : edge.hostname
  return `${edge.protocol}//${slug}.${host}${edge.port ? `:${edge.port}` : ''}`
}

/** null as long as the instance has not said where its edge is. */
export function useAddress(slug: Project['slug']): string | null {
  return useAddresses()(slug)
}

/** The same for a list, which asks once for all its rows. */
export function useAddresses(): (slug: Project['slug']) => string | null {
  const session = useInstance().data
  const baseUrl = useConnection((state) => state.current.base_url)
  // Seen from another device a project is at a port of its own: nothing there finds the names that end in localhost.
  const isFar = baseUrl === '' && !isLoopback(location.hostname)
  const { data: lan } = useLan(isFar && session?.user.is_instance_owner === true)
  const edgeUrl = session?.instance.edge_url
  // What an instance says is data: an address that is none of the web leads nowhere.
  const isOfWeb = edgeUrl !== undefined && /^https?:\/\//.test(edgeUrl) && URL.canParse(edgeUrl)
  return (slug) => {
    const urls = lan?.projects.find((project) => project.slug === slug)?.urls.filter((url) => /^https?:\/\//.test(url)) ?? []
    const near = urls.find((url) => new URL(url).hostname === location.hostname) ?? urls[0]
    return near ?? (isOfWeb ? addressOf(slug, edgeUrl) : null)
  }
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || hostname === '127.0.0.1'
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
