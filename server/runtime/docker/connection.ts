import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { availableParallelism, homedir, platform } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { loadDockerode } from './load-dockerode.ts'
import type { DockerOptions } from '../runtime-options.ts'

export interface DockerConnection {
  docker: Docker
  /** For display: without a password. */
  address: string
  /** The address in its original form. */
  candidate: string
  version: string
  /** `2` when the engine prefers BuildKit. */
  builder: '1' | '2'
  /** Whether container addresses can be reached from here: a Linux engine on this machine, not rootless and not in a virtual machine. */
  hasDirectNetwork: boolean
  /** Of the engine's machine. */
  memory_bytes: number
  /** Where ports of containers are published, if `hasDirectNetwork` is false. */
  publish_host: string
  /** Set if the engine manages a swarm: its node and the address of that for other nodes. */
  swarm: { node_id: string; node_address: string } | null
  /** Whether the engine is in a swarm, also as a worker, or while it starts or has no quorum. */
  isInSwarm: boolean
  /** Whether `host-gateway` in a container's hosts file is this machine. */
  hasHostGateway: boolean
  /** How the engine manages control groups. */
  cgroupDriver: 'cgroupfs' | 'systemd'
  /** Whether BuildKit can run the steps of a build in a given control group: Docker 23 or newer, not rootless. */
  buildsInCgroups: boolean
  /** Reduces a limit to the cores of the engine's machine, above which Docker refuses it; null: all of them. */
  limitCpus(cpus: number | null): number
}

/** Addresses to try, in order: the user's setting, the docker command's context, then the default sockets of known engines. */
export async function findDockerAddresses(options: DockerOptions = {}): Promise<string[]> {
  if (options.candidates) return options.candidates
  const home = options.home ?? homedir()
  const context = await readCurrentContext(options.config_dir ?? join(home, '.docker'))
  const sockets = [
    '/var/run/docker.sock',
    join(home, '.docker/run/docker.sock'),
    join(home, '.docker/desktop/docker.sock'),
    join(home, '.orbstack/run/docker.sock'),
    join(home, '.colima/default/docker.sock'),
    join(home, '.config/colima/default/docker.sock'),
    join(home, '.rd/docker.sock'),
    join(home, '.local/share/containers/podman/machine/podman.sock'),
    join(home, '.local/share/containers/podman/machine/qemu/podman.sock'),
    ...(process.getuid ? [`/run/user/${process.getuid()}/docker.sock`, `/run/user/${process.getuid()}/podman/podman.sock`] : []),
    '/run/podman/podman.sock',
  ].map((path) => `unix://${path}`)
  const usualAddresses =
    platform() === 'win32'
      ? ['npipe:////./pipe/docker_engine', 'npipe:////./pipe/dockerDesktopLinuxEngine', 'npipe:////./pipe/podman-machine-default']
      : sockets
  return [...new Set([options.host, context, ...usualAddresses].filter((address): address is string => Boolean(address)))]
}

/** The endpoint of the docker command's current context; undefined for the default context. */
async function readCurrentContext(configDirectory: string): Promise<string | undefined> {
  try {
    const { currentContext: name } = JSON.parse(await readFile(join(configDirectory, 'config.json'), 'utf8')) as { currentContext?: string }
    if (!name || name === 'default') return undefined
    const folder = createHash('sha256').update(name).digest('hex')
    const meta = JSON.parse(await readFile(join(configDirectory, 'contexts', 'meta', folder, 'meta.json'), 'utf8')) as {
      Endpoints?: { docker?: { Host?: string } }
    }
    return meta.Endpoints?.docker?.Host
  } catch {
    return undefined
  }
}

/** On a busy machine Docker responds slowly; a slow response is no reason to use the process runtime. */
const connectTimeout_ms = 5_000

/** Connects to the first engine that responds to a ping; otherwise returns the reasons. */
export async function connectToDocker(
  candidates: string[],
  clock: Clock = systemClock,
): Promise<DockerConnection | { tried: { address: string; reason: string }[] }> {
  // Loaded at first use, because loading takes 100 ms and 13 MB.
  const Dockerode = await loadDockerode()
  const attempts = []
  for (const address of candidates) {
    try {
      return await openConnection(Dockerode, address, clock)
    } catch (error) {
      attempts.push({ address: redactPassword(address), reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return { tried: attempts }
}

async function openConnection(Dockerode: typeof Docker, address: string, clock: Clock): Promise<DockerConnection> {
  const docker = new Dockerode(parseAddress(address))
  const [version, info] = await rejectAfter(connectTimeout_ms, Promise.all([docker.version(), docker.info()]), clock)
  const isLocal = address.startsWith('unix://')
  const isRootless = JSON.stringify(info.SecurityOptions ?? []).includes('rootless')
  const isDesktop = /Docker Desktop|OrbStack|Rancher|colima|lima/i.test(`${info.OperatingSystem} ${info.Name}`)
  const [major = 0] = version.Version.split('.').map(Number)
  const isPodman = JSON.stringify(version.Components ?? []).includes('Podman')
  return {
    docker,
    address: redactPassword(address),
    candidate: address,
    version: version.Version,
    builder: !isPodman && major >= 23 ? '2' : '1',
    hasDirectNetwork: isLocal && platform() === 'linux' && !isRootless && !isDesktop && !isPodman,
    memory_bytes: info.MemTotal,
    publish_host: '127.0.0.1',
    ...readSwarm(info),
    hasHostGateway: isDesktop && !isPodman && major >= 20,
    cgroupDriver: info.CgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs',
    buildsInCgroups: major >= 23 && info.OSType === 'linux' && !isRootless && !isPodman,
    limitCpus: (cpus) => Math.min(cpus ?? Infinity, info.NCPU || availableParallelism()),
  }
}

function readSwarm({
  Swarm,
}: {
  Swarm?: { LocalNodeState?: string; ControlAvailable?: boolean; NodeID?: string; NodeAddr?: string }
}): Pick<DockerConnection, 'swarm' | 'isInSwarm'> {
  const { LocalNodeState = 'inactive', ControlAvailable = false, NodeID = '', NodeAddr = '' } = Swarm ?? {}
  return {
    swarm: LocalNodeState === 'active' && ControlAvailable ? { node_id: NodeID, node_address: NodeAddr } : null,
    isInSwarm: LocalNodeState !== 'inactive' && LocalNodeState !== '',
  }
}

function parseAddress(address: string): Docker.DockerOptions {
  if (address.startsWith('unix://')) return { socketPath: address.slice('unix://'.length) }
  if (address.startsWith('npipe://')) return { socketPath: address.slice('npipe://'.length).replaceAll('/', '\\') }
  const url = new URL(address.replace(/^tcp:/, 'http:'))
  return {
    host: url.hostname,
    port: Number(url.port) || (url.protocol === 'https:' ? 2376 : 2375),
    protocol: url.protocol === 'ssh:' ? 'ssh' : url.protocol === 'https:' ? 'https' : 'http',
    ...(url.username ? { username: decodeURIComponent(url.username) } : {}),
  }
}

const redactPassword = (address: string): string => address.replace(/\/\/[^/@]*@/, '//')

export class EngineTimeoutError extends Error {}

/** Rejects with `EngineTimeoutError` when there is no result after `ms` milliseconds of real time, because the engine is an external program. */
export function rejectAfter<T>(ms: number, promise: Promise<T>, clock: Clock = systemClock): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => reject(new EngineTimeoutError(`No response within ${ms} ms.`)), ms)
    promise.then(resolve, reject).finally(() => timer.cancel())
  })
}
