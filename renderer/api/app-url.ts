import { useServingDeployment } from './deployments.ts'
import { useInstanceSession } from './instance.ts'
import { useHttps, useLan } from './network.ts'
import type { Project } from '../../server/contract/projects.ts'
import { useCapabilities } from './capabilities.ts'
import { useConnection } from '../stores/connection.ts'
import { safeWebUrl } from '../lib/safe-web-url.ts'

/** URL of a slug, derived from the edge URL of the instance. */
export function appUrl(slug: string, edgeUrl: string): string {
  const edge = new URL(edgeUrl)
  const host = /^(127\.|\[::1\]|localhost$)/.test(edge.hostname) ? 'localhost' : edge.hostname
  return `${edge.protocol}//${slug}.${host}${edge.port ? `:${edge.port}` : ''}`
}

/** null until the instance has reported its edge URL. A hosted account does not report it, but its live deployments contain their URL. */
export function useAppUrl(slug: Project['slug']): string | null {
  const { is_known, has_instance_api } = useCapabilities()
  const address = useAppUrls()(slug)
  const { data: serving } = useServingDeployment(slug, is_known && !has_instance_api && slug !== '')
  return address ?? safeWebUrl(serving?.url) ?? null
}

/** The same for a list, with one query for all rows. */
export function useAppUrls(): (slug: Project['slug']) => string | null {
  const session = useInstanceSession().data
  const host = useConnection((state) => URL.parse(state.current.origin)?.hostname ?? '')
  // From another device a project is reachable at its own port, because names that end in localhost do not resolve there.
  const isOtherDevice = !isLoopbackHost(host)
  const { data: lan } = useLan(isOtherDevice && session?.user.is_instance_owner === true)
  const edgeUrl = session?.instance.apps_url ?? session?.instance.edge_url
  const isWebUrl = safeWebUrl(edgeUrl) !== undefined
  return (slug) => {
    // A public name leads here from every device.
    if (session?.instance.apps_url && isWebUrl) return appUrl(slug, session.instance.apps_url)
    const urls = lan?.projects.find((project) => project.slug === slug)?.urls.filter((url) => safeWebUrl(url) !== undefined) ?? []
    const lanUrl = urls.find((url) => new URL(url).hostname === host) ?? urls[0]
    return lanUrl ?? (isWebUrl && edgeUrl !== undefined ? appUrl(slug, edgeUrl) : null)
  }
}

export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || hostname === '127.0.0.1'
}

/** HTTPS URL, if this machine trusts the certificates; otherwise null. Only the owner can read the trust state. */
export function useSecureAppUrl(slug: Project['slug']): string | null {
  const session = useInstanceSession().data
  const edgeUrl = session?.instance.edge_https_url ?? null
  const { data: https } = useHttps(edgeUrl !== null && session?.user.is_instance_owner === true)
  const isTrusted = https?.trust.some(({ status }) => status === 'trusted') ?? false
  return edgeUrl !== null && isTrusted && safeWebUrl(edgeUrl)?.startsWith('https:') ? appUrl(slug, edgeUrl) : null
}

/** Display form of a URL: without the scheme. */
export function displayUrl(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '')
}
