import type { DesktopFeed } from './features/desktop-feed.ts'
import type { ApiServerOptions } from './api/server.ts'
import type { PostgresVersion } from './contract/postgres-versions.ts'
import type { MasterKey } from './keys/master-key.ts'
import { formatHost } from './lib/format-host.ts'
import type { Clock } from './lib/clock.ts'
import type { InstanceFile } from './lib/instance-file.ts'
import type { Log } from './lib/log.ts'
import type { PasswordCost } from './lib/password.ts'
import type { Screenshotter } from './screenshots/screenshotter.ts'
import type { Store } from './store/store.ts'

/** What the process that hosts the platform may provide: the desktop app passes a keychain, tests pass a clock. */
export interface PlatformHost {
  masterKey?: MasterKey
  log?: Log
  clock?: Clock
  /** An open store, instead of the files in the data folder. The platform closes it. */
  store?: Store
  /** Changes the options of the API server. Tests use this to replace a handler with one that fails. */
  api?: (options: ApiServerOptions) => ApiServerOptions
  /** Takes screenshots instead of a browser found on this machine. */
  screenshotter?: Screenshotter
  /** Paths where the Docker engine is searched for, instead of the usual ones. */
  docker_candidates?: string[]
  /** Replaces the path at which the engine of each node of a swarm listens. */
  node_socket?: string
  /** Another hosts file, and other system folders to keep certificates in. */
  names?: { hosts_path?: string; root?: string; home?: string }
  /** The memory that is available for more replicas, instead of that of the machine or the Docker engine. */
  available_memory_mb?: () => number
  /** Addresses of this machine on the local network, instead of those of its network interfaces. */
  lan_addresses?: () => string[]
  /** The cost of a password hash, instead of the standard. Tests lower it because they create many passwords. */
  password_cost?: PasswordCost
  /** The version of PostgreSQL of new databases, instead of the current one. Tests create databases as earlier versions of Homeport did. */
  database_version?: PostgresVersion
}

/** A running platform. */
export interface Platform {
  /** The content of `instance.json`, token included. */
  instance: InstanceFile
  api_url: string
  edge_url: string
  dashboard_url: string
  version: string
  /** Messages for the user who started the platform, such as a notice about a port in use. */
  notices: string[]
  /** Resolves with a sentence when another instance leads the cluster: this one changes nothing there any more and should be stopped. */
  lost: Promise<string>
  /** Creates a link that signs a browser in as the owner. Each link works once. */
  signInUrl(): Promise<string>
  /** The owner's projects for a host in the same process: the data and actions of its tray. */
  desktopFeed: Omit<DesktopFeed, 'close'>
  /** Rechecks deployments and repositories. Called after the machine wakes from sleep. */
  resync(): void
  /** Stops accepting, ends streams, requeues running jobs and closes, within ten seconds. May be called twice. */
  stop(): Promise<void>
}

/** Another instance holds the data folder. Nothing in the folder was opened. */
export class DataFolderInUseError extends Error {
  readonly runningInstance: InstanceFile | undefined
  constructor(folder: string, runningInstance: InstanceFile | undefined) {
    super(
      `Homeport is already running on ${folder}${runningInstance ? ` (process ${runningInstance.pid}, ${runningInstance.api_url})` : ''}. Use that instance, or choose another folder with --data.`,
    )
    this.name = 'DataFolderInUseError'
    this.runningInstance = runningInstance
  }
}

/** The host part of a URL that a user can open. A wildcard bind address becomes the loopback address. */
export function formatHostForUrl(host: string): string {
  return formatHost(connectableHost(host))
}

export const connectableHost = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host)
