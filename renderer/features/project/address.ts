import type { Project } from '../../../server/contract/projects.ts'
import { useOffered } from '../../api/offered.ts'
import { useHttps, useInstance, useLan, useServing } from '../../api/queries.ts'
import { useConnection } from '../../stores/connection.ts'
import { webAddress } from '../../ui/web-address.ts'

/** Where the edge serves a slug, by the address that the instance gives for its edge. */
export function addressOf(slug: string, edgeUrl: string): string {
  const edge = new URL(edgeUrl)
  const host = /^(127\.|\[::1\]|localhost$)/.test(edge.hostname) ? 'localhost' : edge.hostname
  return `${edge.protocol}//${slug}.${host}${edge.port ? `:${edge.port}` : ''}`
}

/** null as long as the instance has not said where its edge is. One that never says (a hosted one) says it of what serves. */
export function useAddress(slug: Project['slug']): string | null {
  const { is_known, instance } = useOffered()
  const address = useAddresses()(slug)
  const { data: serving } = useServing(slug, is_known && !instance && slug !== '')
  return address ?? webAddress(serving?.url) ?? null
}

/** The same for a list, which asks once for all its rows. */
export function useAddresses(): (slug: Project['slug']) => string | null {
  const session = useInstance().data
  const host = useConnection((state) => URL.parse(state.current.origin)?.hostname ?? '')
  // Seen from another device a project is at a port of its own: nothing there finds the names that end in localhost.
  const isFar = !isLoopback(host)
  const { data: lan } = useLan(isFar && session?.user.is_instance_owner === true)
  const edgeUrl = session?.instance.edge_url
  const isOfWeb = webAddress(edgeUrl) !== undefined
  return (slug) => {
    const urls = lan?.projects.find((project) => project.slug === slug)?.urls.filter((url) => webAddress(url) !== undefined) ?? []
    const near = urls.find((url) => new URL(url).hostname === host) ?? urls[0]
    return near ?? (isOfWeb && edgeUrl !== undefined ? addressOf(slug, edgeUrl) : null)
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
  return edgeUrl !== null && isTrusted && webAddress(edgeUrl)?.startsWith('https:') ? addressOf(slug, edgeUrl) : null
}

/** An address as people say it: without the scheme. */
export function spoken(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '')
}
