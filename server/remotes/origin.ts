import { isIP } from 'node:net'
import { Problem } from '../contract/errors.ts'

/**
 * Parses a user's input into the origin of an instance: scheme, host and port. http:// would send the token unencrypted, so it is only allowed for
 * this machine and its local network. The addresses of a name are checked when connecting.
 */
export function parseOrigin(text: string, isOwn: (url: URL) => boolean): string {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '')
    throw createUrlProblem('This is not a valid instance address. Use the format https://deploy.example.com.')
  if (url.username !== '' || url.password !== '')
    throw createUrlProblem('Remove the user name and password from the address. Enter the token in its own field.')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') throw createUrlProblem(`Remove everything after the host: use ${url.origin}.`)
  if (url.protocol === 'http:' && isIP(stripBrackets(url.hostname)) !== 0 && !isPrivateAddress(stripBrackets(url.hostname)))
    throw createUrlProblem(formatInsecureOrigin(url.host))
  if (isOwn(url)) throw createUrlProblem('This is the address of this instance, which is already in the dashboard.')
  return url.origin
}

export const formatInsecureOrigin = (host: string) =>
  `${host} is not on this machine or its local network, so http:// would send the token over the internet unencrypted. Use https://.`

const createUrlProblem = (message: string) => new Problem('invalid_input', message, { issues: [{ path: 'url', message }] })

/** A host in the form that sockets need: an IPv6 address without brackets. */
export const stripBrackets = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/** Whether an address belongs to this machine or its local network: loopback, private, link-local, or the range of carriers and overlay networks. */
export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 6) {
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
    return mapped === undefined ? address === '::1' || /^(f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):/i.test(address) : isPrivateAddress(mapped)
  }
  return /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(address)
}
