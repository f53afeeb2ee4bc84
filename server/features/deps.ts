import type { DoctorCheckWithHelp, RuntimeStatus, Settings } from '../contract/instance.ts'
import type { LanStatus } from '../contract/network.ts'
import type { ScreenshotVariant } from '../contract/previews.ts'
import type { BillingService } from '../billing/billing-service.ts'
import type { DatabaseService } from '../database/database-service.ts'
import type { DumpStore } from '../database/dump-store.ts'
import type { DeploymentService } from '../deployments/service.ts'
import type { EdgeCache } from '../edge/edge.ts'
import type { Clock } from '../lib/clock.ts'
import type { EmailSender } from '../email/email.ts'
import type { RemoteClient } from '../remotes/remote-client.ts'
import type { Registrars } from '../registrar/registrar.ts'
import type { ArchiveQuarantine } from '../source/archive.ts'
import type { Sealer } from '../store/sealer.ts'
import type { LocalHttps } from '../tls/local-https.ts'
import type { Store } from '../store/store.ts'
import type { Backups } from '../maintenance/backup/backups.ts'
import type { DiskManager } from '../maintenance/disk-usage.ts'
import type { DomainVerifier } from './domain-verifier.ts'
import type { DomainOrders } from './domain-orders.ts'
import type { MetricsRecorder } from './metrics-recorder.ts'
import type { CachePurger } from './cache-purge.ts'
import type { RemoteTokenStore } from './remote-tokens.ts'

/** What the use cases are given by the composition root. */
export interface FeatureDeps {
  store: Store
  deployments: DeploymentService
  /** The watched repositories: a look at one now, and what follows when it is to be watched in another way. */
  watcher: { check(projectId: string): Promise<void>; syncProject(projectId: string): Promise<void> }
  sealer: Sealer
  databases: DatabaseService
  dumps: DumpStore
  clock: Clock
  /** What the edge has stored of the apps' answers. */
  cache: EdgeCache
  /** What was counted at the edge. */
  metrics: MetricsRecorder
  /** Takes out of it, and notes it in the project's log. */
  purge: CachePurger
  /** Where the edge listens, for a request of our own; by HTTPS also where plain HTTP is sent on to it. */
  edgeAddress(wantsHttps: boolean): { host: string; port: number; is_secure: boolean }
  /** The network around this machine: what is open there, and a look that makes it what the setting says. */
  lan: { status(): Pick<LanStatus, 'open' | 'warning' | 'dashboard_urls' | 'projects'>; refresh(): Promise<void> }
  billing: BillingService
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
  archives: ArchiveQuarantine
  /** What takes which room, and how some of it is freed. */
  disk: DiskManager
  backups: Backups
  /** Other instances: what goes to and fro, and the tokens that it goes with. */
  remotes: RemoteClient
  remoteTokens: RemoteTokenStore
  mail: EmailSender
  /** Pictures of what was deployed. */
  screenshots: { read(of: { id: string; project_id: string }, variant: ScreenshotVariant): Promise<Uint8Array | undefined> }
  /** Names of one's own, and whether they lead here. */
  domainVerifier: DomainVerifier
  domainSales: DomainSales
  /** HTTPS on local names, and the hosts file. */
  localHttps: LocalHttps
  /** What git knows of a folder of this machine. */
  describeFolder(path: string): Promise<{ is_git: boolean; branch: string | null }>
  /** Whether an absolute path names a folder. */
  isFolder(path: string): Promise<boolean>
  doctor(isQuick: boolean): Promise<DoctorCheckWithHelp[]>
}

/** Where names are bought. */
export interface DomainSales {
  registrars: Registrars
  orders: DomainOrders
  /** Has the own DNS server listen where the setting says. */
  applyDnsServerSetting(): Promise<void>
}
