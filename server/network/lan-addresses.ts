import { networkInterfaces } from 'node:os'

/** Networks of this machine's own making, where no phone is: bridges of containers and virtual machines, and tunnels to elsewhere. */
const virtualInterfaces =
  /^(docker|br-|veth|virbr|vmnet|vboxnet|cni|flannel|podman|lxc|lxd|bridge1\d\d|utun|tun|tap|wg|ppp|tailscale|zt|vEthernet \((Default Switch|WSL|nat)|VMware|VirtualBox)/i

/** The addresses by which others on the network around this machine reach it. Public ones are not among them: that is no local network. */
export function readLanAddresses(interfaces = networkInterfaces()): string[] {
  const externalInterfaces = Object.entries(interfaces).flatMap(([name, list]) =>
    virtualInterfaces.test(name) ? [] : (list ?? []).filter((one) => !one.internal),
  )
  const addresses = externalInterfaces.map((one) => one.address).filter(isLanAddress)
  // IPv4 first: that is what a person can type.
  return [...new Set(addresses)].toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')))
}

/** RFC 1918, and the unique local addresses of IPv6 (fc00::/7). */
export function isLanAddress(address: string): boolean {
  if (address.includes(':')) return /^f[cd][0-9a-f]{2}:/i.test(address)
  return /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(address)
}
