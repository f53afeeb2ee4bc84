import { hostname } from 'node:os'
import { formatHost } from '../lib/format-host.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { readLanAddresses } from './lan-addresses.ts'

/** A listener on a network address. Closing it cuts its connections. */
export interface LanListener {
  close(): Promise<void>
}

export interface LanOptions {
  /** Whether access from the local network is enabled; checked at every update. */
  isEnabled(): Promise<boolean>
  /** Default: the addresses of the machine's interfaces. */
  addresses?: (() => string[]) | undefined
  /** The machine's name, by default the hostname: devices with mDNS find it as `{machine}.local`. */
  machine?: string
  /** The main listeners. An address that they already cover needs no additional listener. */
  api: { host: string; port: number; open(at: { address: string; port: number }): Promise<LanListener> }
  edge: { host: string; port: number; open(at: { address: string; port: number; as?: string }): Promise<LanListener> }
  /** Live projects, the most recently used first, with their host names at the edge. */
  projects(): Promise<LanProject[]>
  /** Ports by project id. They are kept, so that a URL on a phone stays valid. */
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

export interface LanAccess {
  status(): LanState
  /** `address:port` of the API on the network, as in a Host header. */
  hosts(): readonly string[]
  /** Schedules an update shortly after a change, if access is enabled. */
  scheduleUpdate(): void
  /** Checks the setting, interfaces and projects, and opens and closes listeners accordingly. Resolves when it is done. */
  update(): Promise<void>
  close(): Promise<void>
}

const maxProjects = 100
/** How often the machine's interfaces are checked. */
const pollInterval_ms = 10_000
/** Changes of projects come in bursts. */
const debounce_ms = 100
/** Project ports begin at this offset from the edge's port. */
const projectPortOffset = 100
const projectPortCount = 200

/**
 * Makes edge and dashboard available on the local network, with one listener for each of the machine's local addresses and never on the wildcard,
 * which would include public addresses. Each live project gets its own port, because a phone cannot resolve `slug.localhost`.
 */
export function createLanAccess(options: LanOptions): LanAccess {
  const { api, edge, clock, log, addresses: readAddresses = readLanAddresses, machine = hostname() } = options
  const listeners = new Map<string, LanListener>()
  /** Addresses and projects for which no listener could be opened. */
  let failures: string[] = []
  /** Failures that were already logged. */
  const warnedKeys = new Set<string>()
  let state: LanState = createClosedState(options)
  let hosts: string[] = []
  let timer: Timer | undefined
  let debounceTimer: Timer | undefined
  let updating: Promise<void> = Promise.resolve()
  let isClosed = false

  async function open(key: string, listen: () => Promise<LanListener>): Promise<boolean> {
    if (listeners.has(key)) return true
    try {
      listeners.set(key, await listen())
      warnedKeys.delete(key)
      return true
    } catch (error) {
      if (!warnedKeys.has(key)) log.warn('lan_listen_failed', { what: key, error })
      warnedKeys.add(key)
      return false
    }
  }

  async function updateNow(): Promise<void> {
    if (isClosed || !(await options.isEnabled())) return closeAll()
    timer ??= clock.setInterval(() => void update(), pollInterval_ms).unref()
    const addresses = readAddresses()
    const activeKeys = new Set<string>()
    failures = []

    const dashboards: string[] = []
    for (const address of addresses) {
      activeKeys.add(`api ${address}`).add(`edge ${address}`)
      const hasApi = coversAddress(api.host, address) || (await open(`api ${address}`, () => api.open({ address, port: api.port })))
      const hasEdge = coversAddress(edge.host, address) || (await open(`edge ${address}`, () => edge.open({ address, port: edge.port })))
      if (hasApi) dashboards.push(`${formatHost(address)}:${api.port}`)
      else failures.push(`${formatHost(address)}:${api.port}`)
      if (!hasEdge) failures.push(`${formatHost(address)}:${edge.port}`)
    }
    hosts = [...dashboards, `${machine.split('.')[0]}.local:${api.port}`].map((host) => host.toLowerCase())

    const projects = (await options.projects()).slice(0, maxProjects)
    const openedProjects = await openProjects(projects, addresses, activeKeys)
    for (const [key, listener] of listeners) {
      if (activeKeys.has(key)) continue
      listeners.delete(key)
      await listener.close()
    }
    state = {
      open: true,
      warning: formatWarning(addresses, failures),
      dashboard_urls: dashboards.map((host) => `http://${host}/app/`),
      projects: openedProjects,
    }
  }

  async function openProjects(projects: LanProject[], addresses: string[], activeKeys: Set<string>): Promise<LanState['projects']> {
    const known = await options.ports.read()
    const ports = new Map(Object.entries(known))
    const openedProjects: LanState['projects'] = []
    for (const { id, host, slug, name } of projects) {
      const port = await openProject({ id, host }, addresses, ports, activeKeys)
      if (port === undefined) failures.push(slug)
      else openedProjects.push({ slug, name, urls: addresses.map((address) => `http://${formatHost(address)}:${port}/`) })
    }
    // Ports of deleted and sleeping projects are kept while there is room.
    if (ports.size > 2 * maxProjects) for (const id of ports.keys()) if (!projects.some((project) => project.id === id)) ports.delete(id)
    const now = Object.fromEntries(ports)
    if (JSON.stringify(now) !== JSON.stringify(known)) await options.ports.write(now)
    return openedProjects
  }

  /** Opens the project's previous port, else the next one that is free on every address. */
  async function openProject(
    project: { id: string; host: string },
    addresses: string[],
    ports: Map<string, number>,
    activeKeys: Set<string>,
  ): Promise<number | undefined> {
    const { id, host } = project
    const usedPorts = new Set(ports.values())
    const previousPort = ports.get(id)
    const candidates = listCandidatePorts(edge.port).filter((port) => !usedPorts.has(port))
    for (const port of previousPort === undefined ? candidates : [previousPort, ...candidates]) {
      const keys = addresses.map((address) => ({ address, key: `project ${host} ${address} ${port}` }))
      let isComplete = true
      for (const { address, key } of keys) isComplete = isComplete && (await open(key, () => edge.open({ address, port, as: host })))
      if (!isComplete) continue
      for (const { key } of keys) activeKeys.add(key)
      ports.set(id, port)
      return port
    }
    return undefined
  }

  async function closeAll(): Promise<void> {
    timer?.cancel()
    debounceTimer?.cancel()
    timer = debounceTimer = undefined
    state = createClosedState(options)
    hosts = []
    failures = []
    warnedKeys.clear()
    const all = [...listeners.values()]
    listeners.clear()
    await Promise.all(all.map((listener) => listener.close()))
  }

  function update(): Promise<void> {
    // Updates run one after the other, because two at once would open the same address twice.
    updating = updating.then(updateNow).catch((error: unknown) => log.error('lan_check_failed', { error }))
    return updating
  }

  return {
    status: () => state,
    hosts: () => hosts,
    scheduleUpdate() {
      if (timer === undefined || debounceTimer !== undefined) return
      debounceTimer = clock
        .setTimeout(() => {
          debounceTimer = undefined
          void update()
        }, debounce_ms)
        .unref()
    },
    update,
    close() {
      isClosed = true
      return update()
    },
  }
}

/** Whether a main listener at `host` also accepts connections to `address`. */
function coversAddress(host: string, address: string): boolean {
  return host === address || host === '::' || (host === '0.0.0.0' && !address.includes(':'))
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')

function listCandidatePorts(edgePort: number): number[] {
  const first =
    edgePort + projectPortOffset + projectPortCount <= 65_535 ? edgePort + projectPortOffset : edgePort - projectPortOffset - projectPortCount
  return Array.from({ length: projectPortCount }, (_, i) => first + i)
}

/**
 * An instance that was started with --host on a network address is open regardless of the setting. Its dashboard is not, because it has no host name
 * there.
 */
function createClosedState({ api, edge }: LanOptions): LanState {
  const isOpen = !isLoopback(api.host) || !isLoopback(edge.host)
  const warning = `This instance was started with --host ${api.host}, so anyone with a token can reach it from the network regardless of this setting. The setting controls access by browsers. ${unencryptedWarning}`
  return { open: isOpen, warning: isOpen ? warning : null, dashboard_urls: [], projects: [] }
}

const unencryptedWarning =
  'The connection is not encrypted: anyone on this network can read passwords, tokens and pages. Apps share one host name there, so they see each other’s cookies.'

function formatWarning(addresses: string[], failures: string[]): string {
  if (addresses.length === 0) return 'This machine has no local network address. Connect it to a network; Homeport checks every ten seconds.'
  if (failures.length === 0) return unencryptedWarning
  return `${unencryptedWarning} Not available, because another program uses the port: ${failures.join(', ')}.`
}
