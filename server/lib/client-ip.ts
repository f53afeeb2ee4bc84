import { isIPv4, isIPv6 } from 'node:net'

/** An IPv4 address that a socket reports in IPv6 form (RFC 4291 §2.5.5.2) as IPv4; any other address unchanged. */
export const unmapIpv4 = (address: string): string => (address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address)

/** The first groups of an IPv6 address, of 16 bits each, without leading zeros. */
export function ipv6Prefix(address: string, count: number): string[] {
  const [head = '', tail = ''] = address.toLowerCase().replace(/%.*$/, '').split('::')
  const [front, back] = [head, tail].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const groups = [...front, ...Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0'), ...back]
  return groups.slice(0, count).map((group) => group.replace(/^0+(?=.)/, ''))
}

/** The network of an address, which is what the request log keeps of a visitor: /24 of IPv4, /48 of IPv6. */
export function truncateClientIp(address: string): string {
  const plain = unmapIpv4(address)
  if (isIPv4(plain)) return plain.replace(/\d+$/, '0')
  return isIPv6(plain)
    ? `${ipv6Prefix(plain, 3)
        .join(':')
        .replace(/(?:^|:)0(?::0)*$/, '')}::`
    : ''
}
