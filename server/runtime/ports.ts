import { randomInt } from 'node:crypto'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { platform } from 'node:os'
import { probePort } from '../lib/free-port.ts'

/** Allocates free ports of this machine, each to one replica at a time. */
export interface PortAllocator {
  allocate(): Promise<number>
  release(port: number): void
}

/**
 * Below the ports that Linux, macOS and Windows give to outgoing connections: one of those may be taken by any program between its allocation and the
 * moment the app listens on it.
 */
const appPorts = { first: 20_000, last: 29_999 }

export function createPortAllocator(): PortAllocator {
  const allocated = new Set<number>()
  return {
    async allocate() {
      for (let attempt = 0; attempt < 50; attempt++) {
        const port = randomInt(appPorts.first, appPorts.last + 1)
        if (allocated.has(port)) continue
        allocated.add(port)
        // Apps may listen on all addresses, so the port must be free on all of them.
        if ((await probePort('127.0.0.1', port)) === port && (await probePort('0.0.0.0', port)) === port) return port
        allocated.delete(port)
      }
      throw new Error('No free port is available on this machine.')
    },
    release: (port) => void allocated.delete(port),
  }
}

export interface ListeningSocket {
  port: number
  loopback_only: boolean
  /** Addresses on which the socket can be reached from its own machine; empty for other addresses. */
  hosts: string[]
}

/** The listening sockets of a container or process, from the text of /proc/net/tcp and tcp6. `sockets`: only these inodes. */
export function parseListeningSockets(text: string, sockets?: Set<string>): ListeningSocket[] {
  const rows = text.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/)
    const [address = '', port = ''] = (fields[1] ?? '').split(':')
    // State 0A is LISTEN. Docker's resolver listens on 127.0.0.11 in every container of a network.
    if (fields[3] !== '0A' || address === '0B00007F') return []
    // Field 9 is the inode of the socket.
    return [{ address, port: Number.parseInt(port, 16), isOwn: !sockets || sockets.has(fields[9] ?? '') }]
  })
  const foreignPorts = new Set(rows.filter((row) => !row.isOwn && row.address.length === 8).map((row) => row.port))
  const ports = new Map<number, ListeningSocket>()
  for (const { address, port, isOwn } of rows) {
    if (!isOwn) continue
    const loopback_only = /^[0-9A-F]{6}7F$/.test(address) || /^0{24}01000000$|^0{16}FFFF0000[0-9A-F]{6}7F$/.test(address)
    const known = ports.get(port)
    const hosts = new Set([...(known?.hosts ?? []), ...getReachableHosts(address, foreignPorts.has(port))])
    ports.set(port, { port, loopback_only: (known?.loopback_only ?? true) && loopback_only, hosts: [...hosts] })
  }
  return [...ports.values()]
}

/** A socket on `::` also accepts IPv4 unless IPV6_V6ONLY is set; then the IPv4 port may belong to another program. */
function getReachableHosts(address: string, isTakenOnIPv4: boolean): string[] {
  if (address === '0'.repeat(32)) return isTakenOnIPv4 ? ['::1'] : ['127.0.0.1', '::1']
  if (address === `${'0'.repeat(24)}01000000`) return ['::1']
  const v4 = /^(?:0{16}FFFF0000)?([0-9A-F]{8})$/.exec(address)?.[1]
  if (!v4) return []
  const host = [...Buffer.from(v4, 'hex')].toReversed().join('.')
  return [host === '0.0.0.0' ? '127.0.0.1' : host]
}

/** The listening sockets of some processes of this machine. Empty where /proc does not exist or cannot be read. */
export async function findListeningSockets(pids: number[]): Promise<ListeningSocket[]> {
  if (platform() !== 'linux' || pids.length === 0) return []
  const sockets = new Set<string>()
  for (const pid of pids) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch((): string[] => [])) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1]
      if (inode) sockets.add(inode)
    }
  }
  return parseListeningSockets(await readNetworkTables(pids[0]!), sockets)
}

/** The tables of listening sockets in the network namespace of a process. */
export async function readNetworkTables(pid: number): Promise<string> {
  const texts = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')))
  return texts.join('\n').trim()
}
