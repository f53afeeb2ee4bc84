import { networkInterfaces } from 'node:os'

/** Virtual interfaces that other devices cannot reach: container and virtual-machine bridges, and tunnels. */
const virtualInterfaces =
  /^(docker|br-|veth|virbr|vmnet|vboxnet|cni|flannel|podman|lxc|lxd|bridge1\d\d|utun|tun|tap|wg|ppp|tailscale|zt|vEthernet \((Default Switch|WSL|nat)|VMware|VirtualBox)/i

/** The addresses of this machine on its local network. Public addresses are excluded. */
export function readLanAddresses(interfaces = networkInterfaces()): string[] {
  const externalInterfaces = Object.entries(interfaces).flatMap(([name, list]) =>
    virtualInterfaces.test(name) ? [] : (list ?? []).filter((entry) => !entry.internal),
  )
  const addresses = externalInterfaces.map((entry) => entry.address).filter(isLanAddress)
  // IPv4 first, because it is easier to type.
  return [...new Set(addresses)].toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')))
}

/** RFC 1918, and the unique local addresses of IPv6 (fc00::/7). */
export function isLanAddress(address: string): boolean {
  if (address.includes(':')) return /^f[cd][0-9a-f]{2}:/i.test(address)
  return /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(address)
}
