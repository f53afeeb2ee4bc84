import { hostname } from 'node:os'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { readLanAddresses } from './addresses.ts'

/** A listener on an address of the network. Closing it cuts its connections. */
export interface Opening {
  close(): Promise<void>
}

export interface LanOptions {
  /** Whether the network shall be let in; asked at every look. */
  isWanted(): Promise<boolean>
  /** Those of the machine's interfaces when absent. */
  addresses?: (() => string[]) | undefined
  /** What the machine calls itself, by the system when absent: it is `{machine}.local` where names are found without a server (mDNS). */
  machine?: string
  /** What the main listeners stand at. An address that they cover already needs no listener of ours. */
  api: { host: string; port: number; open(at: { address: string; port: number }): Promise<Opening> }
  edge: { host: string; port: number; open(at: { address: string; port: number; as?: string }): Promise<Opening> }
  /** Projects that are live, the most recently used first, with the name that the edge knows them by. */
  projects(): Promise<LanProject[]>
  /** Ports of projects by their id, as they were given before; kept, so that an address on a phone goes on working. */
  ports: { read(): Promise<Record<string, number>>; write(ports: Record<string, number>): Promise<void> }
  clock: Clock
  log: Log
}

export interface LanProject {
  id: string
  slug: string
  name: string
  host: string
}

export interface LanState {
  open: boolean
  warning: string | null
  dashboard_urls: string[]
  projects: { slug: string; name: string; urls: string[] }[]
}

export interface Lan {
  status(): LanState
  /** `address:port` of the API on the network, as a Host header has it. */
  hosts(): readonly string[]
  /** Something changed that it may have to follow: looks a moment later, if it is open. */
  nudge(): void
  /** Looks at setting, interfaces and projects, and opens and closes what they ask for. Resolves when it is done. */
  look(): Promise<void>
  close(): Promise<void>
}

const maxProjects = 100
/** How often the interfaces of the machine are looked at. */
const every_ms = 10_000
/** Changes of projects come in bursts. */
const nudge_ms = 100
/** Ports from here on after the edge's own are the projects'. */
const firstPort = 100
const portsTried = 200

/**
 * Edge and dashboard on the network around this machine, by an own listener for each of its addresses: never the wildcard,
 * which would open the public ones too. A phone does not resolve `slug.localhost`, so each live project gets a port.
 */
export function createLan(options: LanOptions): Lan {
  const { api, edge, clock, log, addresses: readAddresses = readLanAddresses, machine = hostname() } = options
  const openings = new Map<string, Opening>()
  /** Addresses at which a listener could not be opened, with what is missing there. */
  let failures: string[] = []
  /** Said once, and not at every look. */
  const toldOf = new Set<string>()
  let state: LanState = closedState(options)
  let hosts: string[] = []
  let timer: Timer | undefined
  let soon: Timer | undefined
  let looking: Promise<void> = Promise.resolve()
  let isClosed = false

  async function open(key: string, listen: () => Promise<Opening>): Promise<boolean> {
    if (openings.has(key)) return true
    try {
      openings.set(key, await listen())
      toldOf.delete(key)
      return true
    } catch (error) {
      if (!toldOf.has(key)) log.warn('lan_not_opened', { what: key, error })
      toldOf.add(key)
      return false
    }
  }

  async function lookNow(): Promise<void> {
    if (isClosed || !(await options.isWanted())) return shut()
    timer ??= clock.setInterval(() => void look(), every_ms).unref()
    const addresses = readAddresses()
    const wanted = new Set<string>()
    failures = []

    const dashboards: string[] = []
    for (const address of addresses) {
      wanted.add(`api ${address}`).add(`edge ${address}`)
      const hasApi = covers(api.host, address) || (await open(`api ${address}`, () => api.open({ address, port: api.port })))
      const hasEdge = covers(edge.host, address) || (await open(`edge ${address}`, () => edge.open({ address, port: edge.port })))
      if (hasApi) dashboards.push(`${literal(address)}:${api.port}`)
      else failures.push(`${literal(address)}:${api.port}`)
      if (!hasEdge) failures.push(`${literal(address)}:${edge.port}`)
    }
    hosts = [...dashboards, `${machine.split('.')[0]}.local:${api.port}`].map((host) => host.toLowerCase())

    const projects = (await options.projects()).slice(0, maxProjects)
    const shown = await openProjects(projects, addresses, wanted)
    for (const [key, opening] of openings) {
      if (wanted.has(key)) continue
      openings.delete(key)
      await opening.close()
    }
    state = {
      open: true,
      warning: warningOf(addresses, failures),
      dashboard_urls: dashboards.map((host) => `http://${host}/app/`),
      projects: shown,
    }
  }

  async function openProjects(projects: LanProject[], addresses: string[], wanted: Set<string>): Promise<LanState['projects']> {
    const known = await options.ports.read()
    const ports = new Map(Object.entries(known))
    const shown: LanState['projects'] = []
    for (const { id, host, slug, name } of projects) {
      const port = await openProject({ id, host }, addresses, ports, wanted)
      if (port === undefined) failures.push(slug)
      else shown.push({ slug, name, urls: addresses.map((address) => `http://${literal(address)}:${port}/`) })
    }
    // Ports of projects that are gone or asleep for long are kept as long as there is room.
    if (ports.size > 2 * maxProjects) for (const id of ports.keys()) if (!projects.some((one) => one.id === id)) ports.delete(id)
    const now = Object.fromEntries(ports)
    if (JSON.stringify(now) !== JSON.stringify(known)) await options.ports.write(now)
    return shown
  }

  /** The port that it had, else the next that is free on every address. */
  async function openProject(
    project: { id: string; host: string },
    addresses: string[],
    ports: Map<string, number>,
    wanted: Set<string>,
  ): Promise<number | undefined> {
    const { id, host } = project
    const given = new Set(ports.values())
    const had = ports.get(id)
    const candidates = portsFrom(edge.port).filter((port) => !given.has(port))
    for (const port of had === undefined ? candidates : [had, ...candidates]) {
      const keys = addresses.map((address) => ({ address, key: `project ${host} ${address} ${port}` }))
      let isWhole = true
      for (const { address, key } of keys) isWhole = isWhole && (await open(key, () => edge.open({ address, port, as: host })))
      if (!isWhole) continue
      for (const { key } of keys) wanted.add(key)
      ports.set(id, port)
      return port
    }
    return undefined
  }

  async function shut(): Promise<void> {
    timer?.cancel()
    soon?.cancel()
    timer = soon = undefined
    state = closedState(options)
    hosts = []
    failures = []
    toldOf.clear()
    const all = [...openings.values()]
    openings.clear()
    await Promise.all(all.map((opening) => opening.close()))
  }

  function look(): Promise<void> {
    // One after another: two at once would open the same address twice.
    looking = looking.then(lookNow).catch((error: unknown) => log.error('lan_look_failed', { error }))
    return looking
  }

  return {
    status: () => state,
    hosts: () => hosts,
    nudge() {
      if (timer === undefined || soon !== undefined) return
      soon = clock
        .setTimeout(() => {
          soon = undefined
          void look()
        }, nudge_ms)
        .unref()
    },
    look,
    close() {
      isClosed = true
      return look()
    },
  }
}

/** Whether a main listener at `host` takes connections to `address` as well. */
function covers(host: string, address: string): boolean {
  return host === address || host === '::' || (host === '0.0.0.0' && !address.includes(':'))
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')

const literal = (address: string) => (address.includes(':') ? `[${address}]` : address)

function portsFrom(edgePort: number): number[] {
  const first = edgePort + firstPort + portsTried <= 65_535 ? edgePort + firstPort : edgePort - firstPort - portsTried
  return Array.from({ length: portsTried }, (_, i) => first + i)
}

/** Started by hand on an open address, the instance is open without the setting; its dashboard is not, for want of a name. */
function closedState({ api, edge }: LanOptions): LanState {
  const isOpen = !isLoopback(api.host) || !isLoopback(edge.host)
  const warning = `It was started with --host ${api.host}, so who has a token reaches it from the network whatever this setting says; browsers are let in by the setting. ${plainWarning}`
  return { open: isOpen, warning: isOpen ? warning : null, dashboard_urls: [], projects: [] }
}

const plainWarning =
  'The connection is not encrypted: whoever shares this network can read passwords, tokens and pages on their way. Apps share one host name there, so they see each other’s cookies.'

function warningOf(addresses: string[], failures: string[]): string {
  if (addresses.length === 0) return 'This machine has no address on a local network now. Connect it to one; it is looked for every ten seconds.'
  if (failures.length === 0) return plainWarning
  return `${plainWarning} Not opened, because another program has the port: ${failures.join(', ')}.`
}
