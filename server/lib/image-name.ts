/** Docker Hub, as image names without a host mean it. */
export const dockerHub = 'docker.io'

const dockerHubHosts = new Set([dockerHub, 'index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com', 'hub.docker.com'])

/**
 * The registry of an image, by the rule of Docker: the part before the first slash is a host if it has a dot, a colon or an upper-case letter, or is
 * `localhost`. Credentials are looked up by this host alone, so that a name such as `registry.example@other.example/x` gets those of no other host.
 */
export function getRegistryHost(image: string): string {
  const slash = image.indexOf('/')
  const first = image.slice(0, Math.max(slash, 0))
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost' || first !== first.toLowerCase()
  return isHost ? toCanonicalHost(first) : dockerHub
}

const toCanonicalHost = (host: string): string => (dockerHubHosts.has(host.toLowerCase()) ? dockerHub : host.toLowerCase())

const hostPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*|\[[0-9a-f:]+\])(?::\d{1,5})?$/

/** The host of a registry that a user or Docker's configuration names, such as `https://index.docker.io/v1/`; undefined for other text. */
export function normalizeRegistryHost(text: string): string | undefined {
  const host = text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/.*$/, '')
    .toLowerCase()
  return host.length <= 253 && hostPattern.test(host) ? toCanonicalHost(host) : undefined
}

/** Official images of Docker Hub, which anyone can pull. */
export function isOfficialImage(image: string): boolean {
  const path = image.replace(/^(?:docker\.io|index\.docker\.io)\//, '').replace(/^library\//, '')
  return getRegistryHost(image) === dockerHub && !path.includes('/')
}

/** Whether the tag moves to newer images, such as `latest`: it has no digit, and the name has no digest. */
export function hasMovingTag(image: string): boolean {
  if (image.includes('@')) return false
  const tag = /:([\w.-]+)$/.exec(image.slice(image.lastIndexOf('/') + 1))?.[1] ?? 'latest'
  return !/\d/.test(tag)
}
