import { statfs } from 'node:fs/promises'
import { helpTopicForCheck } from '../contract/help.ts'
import type { DoctorCheck, DoctorCheckWithHelp } from '../contract/instance.ts'
import type { Db } from '../store/store.ts'
import { checkIntegrity } from '../store/store.ts'

export interface DoctorOptions {
  /** Only what is told at once: a window looks at it again and again. */
  is_quick: boolean
  db: Db
  data_dir: string
  runtimes: { name: string; probe(): Promise<{ available: boolean; version: string | null; reason: string }>; check?(): Promise<DoctorCheck> }[]
  default_runtime: string
  git(): Promise<string | undefined>
  addresses: { name: string; url: string; fell_back: boolean }[]
  encryption: 'keychain' | 'file_key'
  /** Whether others on the network can reach the instance. */
  network(): { open: boolean; warning: string | null }
  /** The apps that are processes of this machine, and where they listen besides loopback; undefined: the system does not tell. */
  listAppPorts(): Promise<{ name: string; ports: number[] | undefined }[]>
  /** The servers that hold databases of projects. */
  databases(): Promise<DoctorCheck[]>
  /** Bought names, and the DNS server that answers for local ones. */
  domainSales(): Promise<DoctorCheck[]>
  backups(): Promise<DoctorCheck[]>
  /** What is found out about names and certificates. */
  localHttps(): Promise<DoctorCheck[]>
  screenshots(): DoctorCheck
  /** What is wrong with the desktop's window; null: nothing, or there is no desktop. */
  window: { message: string; mend: string } | null
}

const lowDiskThreshold_bytes = 5 * 1024 ** 3
/** With less than this a build or a copy is sure to fail. */
const fullDiskThreshold_bytes = 256 * 1024 ** 2

/** Looks at what an instance stands on. Every finding says what to do about it. */
export async function runDoctor(options: DoctorOptions): Promise<DoctorCheckWithHelp[]> {
  const checks = options.is_quick
    ? [
        ...options.addresses.map(checkPort),
        ...(await checkRuntimeDetails(options)),
        checkAppPorts(await options.listAppPorts()),
        await checkDiskSpace(options.data_dir),
        ...(await options.backups()),
        ...(await options.databases()),
        checkEncryption(options.encryption),
      ]
    : [
        ...(await Promise.all(options.runtimes.map((runtime) => checkRuntime(runtime, options.default_runtime)))),
        ...(await checkRuntimeDetails(options)),
        await checkGit(options),
        ...options.addresses.map(checkPort),
        ...(await options.localHttps()),
        options.screenshots(),
        ...(options.window ? [{ name: 'window', status: 'warning' as const, ...options.window }] : []),
        checkNetwork(options.network()),
        checkAppPorts(await options.listAppPorts()),
        await checkDiskSpace(options.data_dir),
        await checkDatabaseIntegrity(options.db),
        ...(await options.backups()),
        ...(await options.databases()),
        ...(await options.domainSales()),
        checkEncryption(options.encryption),
      ]
  return checks.map((check) => ({ ...check, help: helpTopicForCheck(check.name) }))
}

const passed = (name: string, message: string): DoctorCheck => ({ name, status: 'ok', message, mend: null })

async function checkRuntime(runtime: DoctorOptions['runtimes'][number], default_runtime: string): Promise<DoctorCheck> {
  const { available, version, reason } = await runtime.probe()
  if (available) return passed(`runtime ${runtime.name}`, `${reason}${version === null ? '' : ` (${version})`}`)
  return {
    name: `runtime ${runtime.name}`,
    status: runtime.name === default_runtime ? 'failed' : 'warning',
    message: reason,
    mend:
      runtime.name === 'docker'
        ? 'Install or start a Docker engine (Docker Desktop, OrbStack, Colima, Podman), then restart Homeport.'
        : 'Start Homeport again.',
  }
}

/** What a runtime has to say itself: no warning where nothing new is deployed on it. */
async function checkRuntimeDetails({ runtimes, default_runtime }: DoctorOptions): Promise<DoctorCheck[]> {
  const checks = runtimes.map(async ({ name, check }): Promise<DoctorCheck[]> => {
    const found = await check?.()
    if (!found) return []
    return [name === default_runtime ? found : { ...found, status: 'ok', mend: null }]
  })
  return (await Promise.all(checks)).flat()
}

async function checkGit(options: DoctorOptions): Promise<DoctorCheck> {
  const found = await options.git()
  if (found !== undefined) return passed('git', found)
  return {
    name: 'git',
    status: 'failed',
    message: 'git was not found on the PATH.',
    mend: 'Install git (on macOS with: xcode-select --install); deployments from a repository need it.',
  }
}

function checkPort({ name, url, fell_back }: DoctorOptions['addresses'][number]): DoctorCheck {
  if (!fell_back) return passed(`port ${name}`, url)
  return {
    name: `port ${name}`,
    status: 'warning',
    message: `Its usual port is taken, so it is at ${url} for this run.`,
    mend: 'Stop what holds the usual port and start Homeport again, or choose a port with --port or --edge-port.',
  }
}

function checkNetwork({ open, warning }: { open: boolean; warning: string | null }): DoctorCheck {
  if (!open) return passed('network', 'Closed: API, dashboard and edge answer to this machine alone.')
  return { name: 'network', status: 'warning', message: `Open. ${warning ?? ''}`.trim(), mend: 'Close it when nobody needs it: homeport lan off' }
}

function checkAppPorts(running: { name: string; ports: number[] | undefined }[]): DoctorCheck {
  const exposed = running.flatMap(({ name, ports }) => (ports?.length ? [`${name} (port ${ports.join(', ')})`] : []))
  if (exposed.length > 0)
    return {
      name: 'apps',
      status: 'warning',
      message: `Other machines on your network may reach these apps, which listen on all addresses of this machine: ${exposed.join('; ')}.`,
      mend: 'Let each of them listen on the address in the variable HOST, then deploy it again.',
    }
  const unknown = running.filter(({ ports }) => ports === undefined).length
  if (running.length === 0) return passed('apps', 'None runs as a process of this machine now.')
  if (unknown === 0) return passed('apps', `${running.length} run as processes of this machine and listen on its loopback address alone.`)
  return passed('apps', `${unknown} run as processes. This system does not tell what they listen on: HOST asks them for 127.0.0.1.`)
}

async function checkDiskSpace(folder: string): Promise<DoctorCheck> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const text = `${(free / 1024 ** 3).toFixed(1)} GiB are free for ${folder}.`
  if (free >= lowDiskThreshold_bytes) return passed('disk', text)
  return {
    name: 'disk',
    status: free < fullDiskThreshold_bytes ? 'failed' : 'warning',
    message: free < fullDiskThreshold_bytes ? `The disk is full: ${(free / 1024 ** 2).toFixed(0)} MiB are free for ${folder}.` : text,
    mend: 'Free some space: homeport disk shows what Homeport takes, homeport disk clean frees what nothing needs, docker system df shows the rest of Docker.',
  }
}

async function checkDatabaseIntegrity(db: Db): Promise<DoctorCheck> {
  const verdict = await db.read(checkIntegrity)
  if (verdict === 'ok') return passed('database', 'Intact.')
  return {
    name: 'database',
    status: 'failed',
    message: `Damaged: ${verdict ?? 'no answer'}.`,
    mend: 'Start Homeport again: it puts the newest good copy of the backups folder in its place.',
  }
}

function checkEncryption(encryption: 'keychain' | 'file_key'): DoctorCheck {
  if (encryption === 'keychain') return passed('encryption', 'Secrets are sealed with a key in the system’s keychain.')
  return {
    name: 'encryption',
    status: 'warning',
    message: 'Secrets are sealed with a key in a file that only you can read, because there is no keychain here.',
    mend: 'Keep the data folder private, or name another place for the key with HOMEPORT_MASTER_KEY_FILE.',
  }
}
