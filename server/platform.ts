import type { DesktopFeed } from './features/desktop-feed.ts'
import type { ApiServerOptions } from './api/server.ts'
import type { MasterKey } from './keys/master-key.ts'
import type { Clock } from './lib/clock.ts'
import type { InstanceFile } from './lib/instance-file.ts'
import type { Log } from './lib/log.ts'
import type { PasswordCost } from './lib/password.ts'
import type { Screenshotter } from './screenshots/screenshotter.ts'
import type { Store } from './store/store.ts'

/** What the host of the platform brings along: the desktop has a keychain, tests turn the clock. */
export interface PlatformHost {
  masterKey?: MasterKey
  log?: Log
  clock?: Clock
  /** An open store, in place of the files in the data folder. The platform closes it. */
  store?: Store
  /** Changes the options of the API server: tests replace a handler by one that fails. */
  api?: (options: ApiServerOptions) => ApiServerOptions
  /** What takes screenshots, in place of a browser that is found on this machine. */
  screenshotter?: Screenshotter
  /** Where an engine is looked for, in place of the usual places. */
  docker_candidates?: string[]
  /** Another hosts file, and other folders of the system to keep certificates in. */
  names?: { hosts_path?: string; root?: string; home?: string }
  /** Addresses of this machine on the network around it, in place of those that its interfaces have. */
  lan_addresses?: () => string[]
  /** What a guess at a password costs, in place of the standard: tests of much else choose many passwords. */
  password_cost?: PasswordCost
}

/** A running platform. */
export interface Platform {
  /** What stands in `instance.json`, token included. */
  instance: InstanceFile
  api_url: string
  edge_url: string
  dashboard_url: string
  version: string
  /** Sentences that the person who started it should read, such as a port that was taken. */
  notices: string[]
  /** A fresh link that signs a browser in as the owner, once. */
  signInUrl(): Promise<string>
  /** The owner's projects for a host in the same process: what its tray shows and does. */
  desktopFeed: Omit<DesktopFeed, 'close'>
  /** The machine slept: looks at the world anew. */
  resync(): void
  /** Stops accepting, ends streams, parks work, closes. Within ten seconds; may be called twice. */
  stop(): Promise<void>
}

/** Another instance holds the data folder. Nothing of it was opened. */
export class DataFolderInUseError extends Error {
  readonly runningInstance: InstanceFile | undefined
  constructor(folder: string, runningInstance: InstanceFile | undefined) {
    super(
      `Homeport runs on ${folder} already${runningInstance ? `: process ${runningInstance.pid}, ${runningInstance.api_url}` : ''}. Use that one, or another --data folder.`,
    )
    this.name = 'DataFolderTaken'
    this.runningInstance = runningInstance
  }
}

/** An address that a person can open: a wildcard bind is reached by the loopback name. */
export function formatHostForUrl(host: string): string {
  const name = connectableHost(host)
  return name.includes(':') ? `[${name}]` : name
}

export const connectableHost = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host)
