import { BlockList, isIPv6 } from 'node:net'

/** A well-known owner of an IP address. `is_proxy`: the domain may point to this instance behind it. */
export interface AddressOwner {
  name: string
  is_proxy: boolean
}

/** Ranges as published by their owners (Cloudflare: cloudflare.com/ips). */
const knownOwners: (AddressOwner & { ranges: string[] })[] = [
  {
    name: 'Cloudflare’s proxy',
    is_proxy: true,
    ranges: (
      '173.245.48.0/20 103.21.244.0/22 103.22.200.0/22 103.31.4.0/22 141.101.64.0/18 108.162.192.0/18 190.93.240.0/20 188.114.96.0/20 ' +
      '197.234.240.0/22 198.41.128.0/17 162.158.0.0/15 104.16.0.0/13 104.24.0.0/14 172.64.0.0/13 131.0.72.0/22 ' +
      '2400:cb00::/32 2606:4700::/32 2803:f800::/32 2405:b500::/32 2405:8100::/32 2a06:98c0::/29 2c0f:f248::/32'
    ).split(' '),
  },
  { name: 'GitHub Pages', is_proxy: false, ranges: ['185.199.108.0/22', '2606:50c0::/32'] },
  { name: 'Vercel', is_proxy: false, ranges: ['76.76.21.0/24'] },
  { name: 'each visitor’s own machine', is_proxy: false, ranges: ['127.0.0.0/8', '::1/128'] },
  {
    name: 'a private network',
    is_proxy: false,
    ranges: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'],
  },
]

const ownerLists = knownOwners.map(({ name, is_proxy, ranges }) => {
  const list = new BlockList()
  for (const range of ranges) {
    const [net = '', bits = ''] = range.split('/')
    list.addSubnet(net, Number(bits), isIPv6(net) ? 'ipv6' : 'ipv4')
  }
  return { owner: { name, is_proxy }, list }
})

export function findAddressOwner(address: string): AddressOwner | undefined {
  return ownerLists.find(({ list }) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'))?.owner
}
