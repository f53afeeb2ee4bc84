import type { ExaminedCheck, RuntimeStatus, Settings } from '../contract/instance.ts'
import type { LanStatus } from '../contract/network.ts'
import type { ScreenshotVariant } from '../contract/previews.ts'
import type { Billing } from '../billing/billing.ts'
import type { Databases } from '../database/databases.ts'
import type { Dumps } from '../database/dumps.ts'
import type { Engine } from '../deploy/engine.ts'
import type { EdgeCache } from '../edge/edge.ts'
import type { Bus } from '../lib/bus.ts'
import type { Clock } from '../lib/clock.ts'
import type { Mail } from '../mail/mail.ts'
import type { Remotes } from '../remote/remotes.ts'
import type { Registrars } from '../registrar/registrar.ts'
import type { Archives } from '../source/archive.ts'
import type { Sealer } from '../store/sealed.ts'
import type { Names } from '../names/names.ts'
import type { Store } from '../store/open.ts'
import type { Backups } from '../upkeep/backups.ts'
import type { Disk } from '../upkeep/disk.ts'
import type { DomainDesk } from './domain-desk.ts'
import type { Orders } from './domain-orders.ts'
import type { MetricsBook } from './metrics-book.ts'
import type { Purge } from './purge.ts'
import type { RemoteTokens } from './remote-tokens.ts'

/** What the use cases are given by the composition root. */
export interface FeatureDeps {
  store: Store
  engine: Engine
  /** The watched repositories: a look at one now, and what follows when it is to be watched in another way. */
  watcher: { check(projectId: string): Promise<void>; follow(projectId: string): Promise<void> }
  sealer: Sealer
  databases: Databases
  dumps: Dumps
  bus: Bus
  clock: Clock
  /** What the edge has stored of the apps' answers. */
  cache: EdgeCache
  /** What was counted at the edge. */
  metrics: MetricsBook
  /** Takes out of it, and notes it in the project's log. */
  purge: Purge
  /** Where the edge listens, for a request of our own; by HTTPS also where plain HTTP is sent on to it. */
  edgeAt(wantsHttps: boolean): { host: string; port: number; is_secure: boolean }
  /** The network around this machine: what is open there, and a look that makes it what the setting says. */
  lan: { status(): Pick<LanStatus, 'open' | 'warning' | 'dashboard_urls' | 'projects'>; look(): Promise<void> }
  billing: Billing
  /** Settings as they are now; `change` stores them and makes them hold at once. */
  settings: { current(): Settings; change(change: Partial<Settings>): Promise<Settings> }
  /** Facts of this run, ports included. */
  instance(): {
    version: string
    api_url: string
    edge_url: string
    /** Null when the edge has no TLS listener. */
    edge_https_url: string | null
    dashboard_url: string
    runtime: RuntimeStatus
    encryption: 'keychain' | 'file_key'
    is_local: boolean
  }
  /** Where uploads come in. */
  archives: Archives
  /** What takes which room, and how some of it is freed. */
  disk: Disk
  backups: Backups
  /** Other instances: what goes to and fro, and the tokens that it goes with. */
  remotes: Remotes
  remoteTokens: RemoteTokens
  mail: Mail
  /** Pictures of what was deployed. */
  screenshots: { read(of: { id: string; project_id: string }, variant: ScreenshotVariant): Promise<Uint8Array | undefined> }
  /** Names of one's own, and whether they lead here. */
  domains: DomainDesk
  market: Market
  /** HTTPS on local names, and the hosts file. */
  names: Names
  /** What git knows of a folder of this machine. */
  describeFolder(path: string): Promise<{ is_git: boolean; branch: string | null }>
  /** Whether an absolute path names a folder. */
  isFolder(path: string): Promise<boolean>
  doctor(isQuick: boolean): Promise<ExaminedCheck[]>
}

/** Where names are bought. */
export interface Market {
  registrars: Registrars
  orders: Orders
  /** Has the own DNS server listen where the setting says. */
  followSetting(): Promise<void>
}
