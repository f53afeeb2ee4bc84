import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { SourceError } from './source.ts'

/** A parsed and validated repository address; `url` contains no credentials. */
export interface RepositoryAddress {
  scheme: 'https' | 'http' | 'ssh' | 'git' | 'file'
  url: string
  host: string
  port: number | null
  /** Credentials from the address; never shown. */
  credentials: { username: string; password: string } | null
  /** The resolved IP address, pinned so that it cannot change between check and use. */
  pinned_ip: string | null
}

const schemes = ['https', 'http', 'ssh', 'git', 'file'] as const
const defaultPorts = { https: 443, http: 80, ssh: 22, git: 9418, file: null } as const

/** Parses an address. Throws SourceError for an invalid address; the error never contains a password. */
export function parseRepositoryAddress(text: string): RepositoryAddress {
  const url = URL.canParse(text) ? new URL(text) : null
  const scheme = schemes.find((name) => `${name}:` === url?.protocol)
  // oxlint-disable-next-line no-control-regex -- a line break in an address could forge a credential or a header
  if (!url || !scheme || /[\u0000-\u0020\u007f]/.test(text)) {
    throw new SourceError('The repository address is not valid.', 'Use an address that starts with https://, ssh://, git:// or file://.')
  }
  if (scheme === 'file') {
    if (url.hostname) throw new SourceError('A file:// address must not contain a host.', 'Use three slashes, such as file:///home/me/app.')
    return { scheme, url: url.href, host: '', port: null, credentials: null, pinned_ip: null }
  }
  // The URL parser does not validate the host of ssh: and git: addresses, which may contain percent signs.
  if (!/^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9.])?|\[[0-9a-f:.]+\])$/i.test(url.hostname)) {
    throw new SourceError('The host in the repository address is not valid.', 'Check the address for typos.')
  }
  const username = decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
  const credentials = password || (username && scheme !== 'ssh') ? { username, password } : null
  url.password = ''
  if (scheme !== 'ssh') url.username = ''
  else if (username.startsWith('-')) throw new SourceError('The username in the repository address starts with a hyphen.', 'Check the address.')
  const port = url.port ? Number(url.port) : defaultPorts[scheme]
  return { scheme, url: url.href, host: url.hostname.replace(/^\[|\]$/g, ''), port, credentials, pinned_ip: null }
}

/**
 * Rejects addresses that only the owner of this machine may use: files, private networks, this machine itself. The host is resolved once and the
 * result pinned, so that a second lookup cannot return another address.
 */
export async function requirePublicAddress(address: RepositoryAddress, signal: AbortSignal): Promise<RepositoryAddress> {
  if (address.scheme === 'file' || address.scheme === 'ssh') {
    const what = address.scheme === 'file' ? 'Folders on this machine' : 'ssh addresses, which use this machine’s keys,'
    throw new SourceError(`${what} are only available to the instance owner.`, 'Use an https:// address, with a token if the repository is private.')
  }
  const addresses = isIP(address.host) ? [address.host] : await resolveHost(address.host, signal)
  if (addresses.some((ip) => !isPublicAddress(ip))) {
    throw new SourceError(
      'The repository address points to a private network, which this instance does not allow.',
      'Use a public address, or ask the instance owner to deploy it.',
    )
  }
  return { ...address, pinned_ip: addresses[0] ?? null }
}

async function resolveHost(host: string, signal: AbortSignal): Promise<string[]> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    signal.throwIfAborted()
    const results = await Promise.race([lookup(host, { all: true, verbatim: true }), aborted.promise])
    return results.map(({ address }) => address)
  } catch (error) {
    signal.throwIfAborted()
    throw new SourceError(`The host ${host} could not be resolved.`, 'Check the address and that this machine is online.', 'clone_failed', error)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

const nonPublicRanges = new BlockList()
for (const range of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32', // Azure's metadata service
]) {
  const [net, bits] = range.split('/')
  nonPublicRanges.addSubnet(net ?? '', Number(bits), 'ipv4')
}
// The public range of IPv6 is 2000::/3, without tunnels to IPv4 and reserved ranges.
for (const range of ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']) {
  const [net, bits] = range.split('/')
  nonPublicRanges.addSubnet(net ?? '', Number(bits), 'ipv6')
}
const globalUnicastV6 = new BlockList()
globalUnicastV6.addSubnet('2000::', 3, 'ipv6')

/** Whether an IP address is public; addresses of this machine are not. */
export function isPublicAddress(ip: string): boolean {
  const family = isIP(ip)
  if (family === 0 || isInterfaceAddress(ip)) return false
  if (family === 4) return !nonPublicRanges.check(ip, 'ipv4')
  return globalUnicastV6.check(ip, 'ipv6') && !nonPublicRanges.check(ip, 'ipv6')
}

const isInterfaceAddress = (ip: string): boolean =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === ip))
