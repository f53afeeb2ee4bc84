/** The network of an address, which is what the request log keeps of a visitor: /24 of IPv4, /48 of IPv6. An IPv4 address in IPv6 form counts as IPv4. */
export function truncateClientIp(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
  const ipv4 = /^(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/.exec(mapped)
  if (ipv4) return `${ipv4[1]}.0`
  const plain = mapped.replace(/%.*$/, '').toLowerCase()
  if (!plain.includes(':')) return ''
  const [head = '', tail] = plain.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const end = tail === '' ? [] : tail.split(':')
    while (groups.length + end.length < 8) groups.push('0')
    groups.push(...end)
  }
  const network = groups.slice(0, 3).map((group) => group.replace(/^0+(?=.)/, ''))
  while (network.at(-1) === '0') network.pop()
  return `${network.join(':')}::`
}
