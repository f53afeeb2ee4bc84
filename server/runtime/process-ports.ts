import { readdir, readFile, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { platform } from 'node:os'

/** Hands out ports of this machine that nobody listens on, each to one instance at a time. */
export interface Ports {
  take(): Promise<number>
  giveBack(port: number): void
}

export function createPorts(): Ports {
  const taken = new Set<number>()
  return {
    async take() {
      for (let attempt = 0; attempt < 50; attempt++) {
        const port = await freePort('127.0.0.1', 0)
        if (port === undefined || taken.has(port)) continue
        taken.add(port)
        // Apps may listen on every address all the same: the port must be free on all of them.
        if ((await freePort('0.0.0.0', port)) === port) return port
        taken.delete(port)
      }
      throw new Error('No free port was found on this machine.')
    },
    giveBack: (port) => void taken.delete(port),
  }
}

function freePort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined))
    })
  })
}

/** Ports that a container's or a process's network shows as listening, from the text of /proc/net/tcp and tcp6. `sockets`: only those inodes. */
export function parseListening(text: string, sockets?: Set<string>): { port: number; loopback_only: boolean }[] {
  const ports = new Map<number, boolean>()
  for (const line of text.split('\n')) {
    const fields = line.trim().split(/\s+/)
    // State 0A is LISTEN; field 9 is the inode of the socket.
    if (fields[3] !== '0A' || (sockets && !sockets.has(fields[9] ?? ''))) continue
    const [address = '', port = ''] = (fields[1] ?? '').split(':')
    // Docker's own resolver listens at 127.0.0.11 in every container of a network.
    if (address === '0B00007F') continue
    const loopback = /^[0-9A-F]{6}7F$/.test(address) || /^0{24}01000000$|^0{16}FFFF0000[0-9A-F]{6}7F$/.test(address)
    const number = Number.parseInt(port, 16)
    ports.set(number, (ports.get(number) ?? true) && loopback)
  }
  return [...ports].map(([port, loopback_only]) => ({ port, loopback_only }))
}

/** What some processes of this machine listen on. Empty where /proc is not there or not ours to read. */
export async function listeningPortsOf(pids: number[]): Promise<{ port: number; loopback_only: boolean }[]> {
  if (platform() !== 'linux' || pids.length === 0) return []
  const sockets = new Set<string>()
  for (const pid of pids) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch((): string[] => [])) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1]
      if (inode) sockets.add(inode)
    }
  }
  return parseListening(await readNetwork(pids[0]!), sockets)
}

/** The tables of listening sockets in the network of a process. */
export async function readNetwork(pid: number): Promise<string> {
  const texts = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')))
  return texts.join('\n')
}
