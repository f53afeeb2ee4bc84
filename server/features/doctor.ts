import { statfs } from 'node:fs/promises'
import { helpTopicForCheck } from '../contract/help.ts'
import type { DoctorCheck, DoctorCheckWithHelp } from '../contract/instance.ts'
import type { ClosedPort, NodeEdgeStatus } from '../edge/nodes/node-link.ts'
import { type RuntimeName, runtimes } from '../contract/runtimes.ts'
import type { Db } from '../store/store.ts'
import { checkIntegrity } from '../store/store.ts'

export interface DoctorOptions {
  /** Only fast checks, because the dashboard polls them. */
  is_quick: boolean
  db: Db
  data_dir: string
  runtimes: {
    name: RuntimeName
    probe(): Promise<{ available: boolean; version: string | null; reason: string }>
    check?(isQuick: boolean): Promise<DoctorCheck[]>
  }[]
  default_runtime: string
  git(): Promise<string | undefined>
  addresses: { name: string; url: string; fell_back: boolean }[]
  encryption: 'keychain' | 'file_key'
  /** Whether other machines can reach the instance. */
  network(): { open: boolean; warning: string | null }
  /** Apps that run as processes, with their non-loopback listen addresses; undefined if the system does not provide them. */
  listAppPorts(): Promise<{ name: string; ports: number[] | undefined }[]>
  /** Replicas that run although the database does not know them. */
  listUnknownApps(): Promise<{ project: string; deployment_id: string }[]>
  /** The edges of other nodes of the cluster. */
  nodeEdges: { list(): NodeEdgeStatus[]; findClosedPorts(): Promise<ClosedPort[]> }
  /** The lease of the cluster and its standbys. */
  standbys(): DoctorCheck[]
  /** The database servers of projects. */
  databases(): Promise<DoctorCheck[]>
  /** Bought domains, and the own DNS server. */
  domainSales(): Promise<DoctorCheck[]>
  backups(): Promise<DoctorCheck[]>
  /** Checks of names and certificates. */
  localHttps(): Promise<DoctorCheck[]>
  /** The apps domain, and certificates of public names. */
  publicNames(): DoctorCheck[]
  screenshots(): DoctorCheck
  /** A problem with the desktop window; null without a problem or a desktop. */
  window: { message: string; hint: string } | null
}

const lowDiskThreshold_bytes = 5 * 1024 ** 3
/** With less free space, builds and copies fail. */
const fullDiskThreshold_bytes = 256 * 1024 ** 2

/** Checks the instance. Every problem has a fix. */
export async function runDoctor(options: DoctorOptions): Promise<DoctorCheckWithHelp[]> {
  const checks = options.is_quick
    ? [
        ...options.addresses.map(checkPort),
        ...options.publicNames(),
        ...(await checkRuntimeDetails(options)),
        ...checkNodeEdges(options.nodeEdges.list(), []),
        ...options.standbys(),
        checkAppPorts(await options.listAppPorts()),
        ...checkUnknownApps(await options.listUnknownApps()),
        await checkDiskSpace(options.data_dir),
        ...(await options.backups()),
        ...(await options.databases()),
        checkEncryption(options.encryption),
      ]
    : [
        ...(await Promise.all(options.runtimes.map((runtime) => checkRuntime(runtime, options.default_runtime)))).flat(),
        ...(await checkRuntimeDetails(options)),
        ...checkNodeEdges(options.nodeEdges.list(), await options.nodeEdges.findClosedPorts()),
        ...options.standbys(),
        await checkGit(options),
        ...options.addresses.map(checkPort),
        ...(await options.localHttps()),
        ...options.publicNames(),
        options.screenshots(),
        ...(options.window ? [{ name: 'window', status: 'warning' as const, ...options.window }] : []),
        checkNetwork(options.network()),
        checkAppPorts(await options.listAppPorts()),
        ...checkUnknownApps(await options.listUnknownApps()),
        await checkDiskSpace(options.data_dir),
        await checkDatabaseIntegrity(options.db),
        ...(await options.backups()),
        ...(await options.databases()),
        ...(await options.domainSales()),
        checkEncryption(options.encryption),
      ]
  return checks.map((check) => ({ ...check, help: helpTopicForCheck(check.name) }))
}

const passed = (name: string, message: string): DoctorCheck => ({ name, status: 'ok', message, hint: null })

async function checkRuntime(runtime: DoctorOptions['runtimes'][number], default_runtime: string): Promise<DoctorCheck[]> {
  const { available, version, reason } = await runtime.probe()
  if (available) return [passed(`runtime ${runtime.name}`, `${reason}${version === null ? '' : ` (${version})`}`)]
  const status = runtime.name === default_runtime ? 'failed' : 'warning'
  // A cluster is not missed where apps run on one machine.
  if (status === 'warning' && runtimes[runtime.name].is_cluster) return []
  return [{ name: `runtime ${runtime.name}`, status, message: reason, hint: runtimes[runtime.name].how_to_start }]
}

/** The checks of the runtimes themselves. A problem of a runtime that is not the default is not a warning. */
async function checkRuntimeDetails({ runtimes, default_runtime, is_quick }: DoctorOptions): Promise<DoctorCheck[]> {
  const checks = runtimes.map(async ({ name, check }): Promise<DoctorCheck[]> => {
    const found = (await check?.(is_quick)) ?? []
    return name === default_runtime ? found : found.map((one): DoctorCheck => ({ ...one, status: 'ok', hint: null }))
  })
  return (await Promise.all(checks)).flat()
}

/** None where no other node is to have an edge. */
export function checkNodeEdges(edges: NodeEdgeStatus[], closed: ClosedPort[]): DoctorCheck[] {
  if (edges.length === 0) return []
  const name = 'swarm edges'
  const away = edges.filter(({ is_connected }) => !is_connected).map(({ node }) => node)
  const blocked = edges.filter(({ is_connected, problem }) => is_connected && problem !== null)
  if (away.length > 0)
    return [
      {
        name,
        status: 'warning',
        message: `The edges of these nodes do not answer: ${away.join(', ')}. They continue with what they knew, without cached responses.`,
        hint: 'Port 7444 (TCP) has to be open between the nodes. docker service ps --no-trunc shows why an edge does not run.',
      },
    ]
  if (blocked.length > 0)
    return [
      {
        name,
        status: 'warning',
        message: `Apps cannot be reached at these nodes: ${blocked.map(({ node, problem }) => `${node} (${problem})`).join(', ')}.`,
        hint: 'Stop what uses the port there. The edge tries again every two seconds.',
      },
    ]
  if (closed.length > 0)
    return [
      {
        name,
        status: 'warning',
        message: `Some nodes cannot connect to each other: ${closed.map(({ from, to }) => `${from} to port ${to.port} of ${to.node} (${to.host})`).join(', ')}.`,
        hint: 'Open the ports 2377, 7946 and 20000 to 29999 (TCP), 7946 and 4789 (UDP) between all nodes (homeport help cluster).',
      },
    ]
  return [passed(name, 'The edges of all other nodes serve apps.')]
}

async function checkGit(options: DoctorOptions): Promise<DoctorCheck> {
  const found = await options.git()
  if (found !== undefined) return passed('git', found)
  return {
    name: 'git',
    status: 'failed',
    message: 'git was not found on the PATH.',
    hint: 'Install git (on macOS with: xcode-select --install); deployments from a repository need it.',
  }
}

function checkPort({ name, url, fell_back }: DoctorOptions['addresses'][number]): DoctorCheck {
  if (!fell_back) return passed(`port ${name}`, url)
  return {
    name: `port ${name}`,
    status: 'warning',
    message: `The default port is in use, so this run uses ${url}.`,
    hint: 'Stop the program that uses the default port and restart Homeport, or choose a port with --port or --edge-port.',
  }
}

function checkNetwork({ open, warning }: { open: boolean; warning: string | null }): DoctorCheck {
  if (!open) return passed('network', 'Closed: only this machine can reach the API, the dashboard and the edge.')
  return {
    name: 'network',
    status: 'warning',
    message: `Open. ${warning ?? ''}`.trim(),
    hint: 'Close it when it is no longer needed: homeport lan off',
  }
}

function checkUnknownApps(found: { project: string; deployment_id: string }[]): DoctorCheck[] {
  if (found.length === 0) return []
  const names = [...new Set(found.map(({ project, deployment_id }) => `${project} (${deployment_id})`))]
  return [
    {
      name: 'unknown apps',
      status: 'warning',
      message: `The database does not know ${names.length === 1 ? 'a deployment that is' : `${names.length} deployments that are`} running: ${names.join(', ')}. It may be an older copy. They keep running without traffic.`,
      hint: 'Deploy what should be live, then stop them: homeport disk clean unknown_apps',
    },
  ]
}

function checkAppPorts(running: { name: string; ports: number[] | undefined }[]): DoctorCheck {
  const exposed = running.flatMap(({ name, ports }) => (ports?.length ? [`${name} (port ${ports.join(', ')})`] : []))
  if (exposed.length > 0)
    return {
      name: 'apps',
      status: 'warning',
      message: `Other machines on your network may be able to reach these apps, because they listen on all addresses: ${exposed.join('; ')}.`,
      hint: 'Make each app listen on the address in the variable HOST, then deploy it again.',
    }
  const unknown = running.filter(({ ports }) => ports === undefined).length
  if (running.length === 0) return passed('apps', 'No app runs as a process on this machine.')
  if (unknown === 0)
    return passed(
      'apps',
      `${running.length} ${running.length === 1 ? 'app runs as a process' : 'apps run as processes'} of this machine, only on its loopback address.`,
    )
  return passed('apps', `Apps run as processes (${unknown}). This system does not report which addresses they listen on. HOST is set to 127.0.0.1.`)
}

async function checkDiskSpace(folder: string): Promise<DoctorCheck> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const text = `${(free / 1024 ** 3).toFixed(1)} GiB are free for ${folder}.`
  if (free >= lowDiskThreshold_bytes) return passed('disk', text)
  return {
    name: 'disk',
    status: free < fullDiskThreshold_bytes ? 'failed' : 'warning',
    message: free < fullDiskThreshold_bytes ? `The disk is full: ${(free / 1024 ** 2).toFixed(0)} MiB free for ${folder}.` : text,
    hint: 'Free some space: homeport disk shows what Homeport uses, homeport disk clean deletes what is no longer needed, docker system df shows other data in Docker.',
  }
}

async function checkDatabaseIntegrity(db: Db): Promise<DoctorCheck> {
  const result = await db.read(checkIntegrity)
  if (result === 'ok') return passed('database', 'Intact.')
  return {
    name: 'database',
    status: 'failed',
    message: `Damaged: ${result ?? 'no answer'}.`,
    hint: 'Restart Homeport. It restores the newest intact copy from the backups folder.',
  }
}

function checkEncryption(encryption: 'keychain' | 'file_key'): DoctorCheck {
  if (encryption === 'keychain') return passed('encryption', 'Secrets are encrypted with a key in the system’s keychain.')
  return {
    name: 'encryption',
    status: 'warning',
    message: 'Secrets are encrypted with a key in a file that only you can read, because there is no keychain.',
    hint: 'Keep the data folder private, or set HOMEPORT_MASTER_KEY_FILE to keep the key in another place.',
  }
}
