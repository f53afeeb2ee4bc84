import { isIP } from 'node:net'
import { Problem } from '../contract/errors.ts'

/**
 * Where an instance is, from what a person typed: scheme, host and port and nothing else. Over http:// the token would cross the
 * network in the clear, so that goes to this machine and the network around it alone; what a name leads to is looked at when it is
 * connected to.
 */
export function parseOrigin(text: string, isOwn: (url: URL) => boolean): string {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '')
    throw createUrlProblem('This is no address of an instance. Write it like https://deploy.example.com.')
  if (url.username !== '' || url.password !== '')
    throw createUrlProblem('Leave the name and password out of the address; the token goes into its own field.')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw createUrlProblem(`Leave out what follows the host: ${url.origin} is the address.`)
  if (url.protocol === 'http:' && isIP(stripBrackets(url.hostname)) !== 0 && !isPrivateAddress(stripBrackets(url.hostname)))
    throw createUrlProblem(formatInsecureOrigin(url.host))
  if (isOwn(url)) throw createUrlProblem('That is this instance. It is in the dashboard already.')
  return url.origin
}

export const formatInsecureOrigin = (host: string) =>
  `${host} is not on this machine or its own network, so over http:// the token would cross the internet in the clear. Use https://.`

const createUrlProblem = (message: string) => new Problem('invalid_input', message, { issues: [{ path: 'url', message }] })

/** A host as sockets want it: an IPv6 address without its brackets. */
export const stripBrackets = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/** An address of this machine, or of the network around it: loopback, private, link-local, and the range of carriers and overlay networks. */
export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 6) {
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
    return mapped === undefined ? address === '::1' || /^(f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):/i.test(address) : isPrivateAddress(mapped)
  }
  return /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(address)
}
