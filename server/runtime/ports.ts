import { readdir, readFile, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { platform } from 'node:os'

/** Hands out ports of this machine that nobody listens on, each to one instance at a time. */
export interface PortAllocator {
  allocate(): Promise<number>
  release(port: number): void
}

export function createPortAllocator(): PortAllocator {
  const allocated = new Set<number>()
  return {
    async allocate() {
      for (let attempt = 0; attempt < 50; attempt++) {
        const port = await probePort('127.0.0.1', 0)
        if (port === undefined || allocated.has(port)) continue
        allocated.add(port)
        // Apps may listen on every address all the same: the port must be free on all of them.
        if ((await probePort('0.0.0.0', port)) === port) return port
        allocated.delete(port)
      }
      throw new Error('No free port was found on this machine.')
    },
    release: (port) => void allocated.delete(port),
  }
}

function probePort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined))
    })
  })
}

export interface ListeningSocket {
  port: number
  loopback_only: boolean
  /** Addresses of its own machine by which it alone is reached. */
  hosts: string[]
}

/** What a container's or a process's network shows as listening, from the text of /proc/net/tcp and tcp6. `sockets`: only those inodes. */
export function parseListeningSockets(text: string, sockets?: Set<string>): ListeningSocket[] {
  const rows = text.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/)
    const [address = '', port = ''] = (fields[1] ?? '').split(':')
    // State 0A is LISTEN. Docker's own resolver listens at 127.0.0.11 in every container of a network.
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

/** `::` takes IPv4 too, unless it was told not to: then the IPv4 port may be another program's. */
function getReachableHosts(address: string, isTakenOnIPv4: boolean): string[] {
  if (address === '0'.repeat(32)) return isTakenOnIPv4 ? ['::1'] : ['127.0.0.1', '::1']
  if (address === `${'0'.repeat(24)}01000000`) return ['::1']
  const v4 = /^(?:0{16}FFFF0000)?([0-9A-F]{8})$/.exec(address)?.[1]
  if (!v4) return []
  const host = [...Buffer.from(v4, 'hex')].toReversed().join('.')
  return [host === '0.0.0.0' ? '127.0.0.1' : host]
}

/** What some processes of this machine listen on. Empty where /proc is not there or not ours to read. */
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

/** The tables of listening sockets in the network of a process. */
export async function readNetworkTables(pid: number): Promise<string> {
  const texts = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')))
  return texts.join('\n').trim()
}
