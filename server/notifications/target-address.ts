import { isIP } from 'node:net'
import { z } from 'zod'
import { Problem } from '../contract/errors.ts'
import type { NotificationTarget } from '../contract/notifications.ts'
import { isPrivateAddress, stripBrackets } from '../remotes/origin.ts'
import { isPublicAddress } from '../source/repository-address.ts'

/**
 * The address of a target as it is stored: an email address, or a URL. `is_trusted`: the instance owner adds it, who may use this machine and its
 * local network. The addresses of a name are checked at each connection.
 */
export function parseTargetAddress(type: NotificationTarget['type'], text: string, is_trusted: boolean): string {
  if (type === 'email') {
    const email = z.email().max(254).safeParse(text)
    if (!email.success) throw addressProblem('Enter an email address, such as team@example.com.')
    return email.data
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '')
    throw addressProblem('Enter a URL, such as https://hooks.example.com/homeport.')
  if (url.username !== '' || url.password !== '') throw addressProblem('Remove the user name and password from the URL.')
  url.hash = ''
  const host = stripBrackets(url.hostname)
  const problem = isIP(host) === 0 && !isLocalhost(host) ? undefined : explainAddress(isLocalhost(host) ? '127.0.0.1' : host, url, is_trusted)
  if (problem !== undefined) throw addressProblem(problem)
  if (url.protocol === 'http:' && !is_trusted) throw addressProblem('Use https://.')
  return url.href
}

const addressProblem = (message: string) => new Problem('invalid_input', message, { issues: [{ path: 'address', message }] })

export const isLocalhost = (host: string): boolean => /^(?:.+\.)?localhost\.?$/i.test(host)

/** Why no request goes to an IP address; undefined if it may. */
export function explainAddress(ip: string, url: Pick<URL, 'protocol'>, is_trusted: boolean): string | undefined {
  const plain = url.protocol.slice(0, -1)
  const isSecure = url.protocol === 'https:' || url.protocol === 'tls:'
  if (isPublicAddress(ip))
    return isSecure ? undefined : `Use ${plain === 'http' ? 'https' : 'tls'}://, because ${plain}:// is only for private networks.`
  if (!is_trusted) return 'The URL leads to a private network, which only the instance owner may use.'
  return isPrivateAddress(ip) && !isMetadataRange(ip) ? undefined : 'The URL leads to an address that nothing is sent to.'
}

/** Link-local addresses, where clouds have their metadata services. */
const isMetadataRange = (ip: string): boolean => /^(?:::ffff:)?169\.254\.|^fe[89ab][0-9a-f]:|^fd00:ec2:/i.test(ip)

/** What is shown of an address. The URL of a Slack webhook is a credential. */
export const displayAddress = (type: NotificationTarget['type'], address: string): string =>
  type === 'slack' ? `${new URL(address).origin}/…` : address
