import type { DoctorCheckWithHelp, RuntimeStatus, Settings } from '../contract/instance.ts'
import type { LanStatus, PublicCertificate, PublicNames } from '../contract/network.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { ScreenshotVariant } from '../contract/previews.ts'
import type { BillingService } from '../billing/billing-service.ts'
import type { DatabaseService } from '../database/database-service.ts'
import type { DumpStore } from '../database/dump-store.ts'
import type { DeploymentService, SourcePlanner } from '../deployments/service.ts'
import type { EdgeCache, Route } from '../edge/edge.ts'
import type { ClosedPort, NodeEdgeStatus } from '../edge/nodes/node-link.ts'
import type { EdgeRequests } from '../edge/request-log.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { LogDrains } from '../log-drains/log-drains.ts'
import type { MailCatcher } from '../mail-catcher/mail-catcher.ts'
import type { EmailSender } from '../email/email.ts'
import type { RemoteClient } from '../remotes/remote-client.ts'
import type { Registrars } from '../optional/registrar/registrar.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { ArchiveQuarantine } from '../source/archive.ts'
import type { Sealer } from '../store/sealer.ts'
import type { LocalHttps } from '../tls/local-https.ts'
import type { Store } from '../store/store.ts'
import type { Backups } from '../maintenance/backup/backups.ts'
import type { ReplicationSource } from '../maintenance/standby/replication-source.ts'
import type { DiskManager } from '../maintenance/disk-usage.ts'
import type { TraceReceiver } from '../tracing/trace-receiver.ts'
import type { DomainVerifier } from './domain-verifier.ts'
import type { DomainOrders } from '../optional/domain-sales/orders.ts'
import type { MetricsRecorder } from './metrics-recorder.ts'
import type { MetricTotals } from './metric-totals.ts'
import type { UsageRecorder } from './usage-recorder.ts'
import type { CachePurger } from './cache-purge.ts'
import type { CommandTickets } from './command-tickets.ts'
import type { RequestRecorder } from './request-recorder.ts'
import type { RemoteTokenStore } from './remote-tokens.ts'

/** Dependencies of the features, passed in by the composition root. */
export interface FeatureDeps {
  store: Store
  deployments: DeploymentService
  sourcePlanner: SourcePlanner
  /** Prepared one-off commands. */
  commandTickets: CommandTickets
  /** Watched repositories: check one now, and apply changed settings. */
  watcher: { check(projectId: string): Promise<void>; syncProject(projectId: string): Promise<void> }
  sealer: Sealer
  databases: DatabaseService
  dumps: DumpStore
  clock: Clock
  log: Log
  /** The edge cache. */
  cache: EdgeCache
  /** Metrics of the edge. */
  metrics: MetricsRecorder
  /** What was counted since the platform started, for `/metrics`. */
  metricTotals: MetricTotals
  /** CPU and memory of apps. */
  usage: UsageRecorder
  /** Request log of the edge. */
  requests: RequestRecorder
  /** Captures requests at the edge. */
  capture: Pick<EdgeRequests, 'setCapture'>
  /** The route of a host name at the edge. */
  findRoute(host: string): Route | undefined
  /** Purges the edge cache and logs each purge. */
  purge: CachePurger
  /** Applies settings at the edge that were changed. */
  applyEdgeSettings(): void
  /** The address of the edge for the platform's own requests; HTTPS if HTTP is redirected to it. */
  edgeAddress(wantsHttps: boolean): { host: string; port: number; is_secure: boolean }
  /** Local network access: its state, and a sync that applies the setting. */
  lan: { status(): Pick<LanStatus, 'open' | 'warning' | 'dashboard_urls' | 'projects'>; refresh(): Promise<void> }
  billing: BillingService
  /** Current settings; `change` stores and applies them. */
  settings: { current(): Settings; change(change: Partial<Settings>): Promise<Settings> }
  /** Facts about this run, including ports. */
  instance(): {
    version: string
    api_url: string
    edge_url: string
    /** Null without a TLS listener. */
    edge_https_url: string | null
    /** Null without an apps domain. */
    apps_url: string | null
    dashboard_url: string
    runtime: RuntimeStatus
    encryption: 'keychain' | 'file_key'
    is_local: boolean
  }
  /** Registries to which the user of this machine has signed in with `docker login`. */
  listDockerLogins(): Promise<string[]>
  runtimes: Record<RuntimeName, Pick<Runtime, 'probe' | 'clearBuildCache' | 'nodes'>>
  /** The edges of other nodes of the cluster, by the id of the node. */
  nodeEdges: { listStatuses(): ReadonlyMap<string, NodeEdgeStatus>; findClosedPorts(): Promise<ClosedPort[]> }
  /** What standbys copy. */
  replication: ReplicationSource
  /** The data folder of the standby that takes over; null for none. */
  findSuccessor(): string | null
  /** Cores of this machine. */
  cpus: number
  /** Receives uploads. */
  archives: ArchiveQuarantine
  /** Disk usage and cleaning. */
  disk: DiskManager
  backups: Backups
  /** Other instances: forwarding and their tokens. */
  remotes: RemoteClient
  remoteTokens: RemoteTokenStore
  mail: EmailSender
  /** Applies changed log drains, and tests one. */
  logDrains: Pick<LogDrains, 'reload' | 'test'>
  /** The mail that apps of this instance send. */
  mailCatcher: MailCatcher
  /** The spans that apps of this instance send. */
  traces: Pick<TraceReceiver, 'flush'>
  /** Screenshots of deployments. */
  screenshots: { read(of: { id: string; project_id: string }, variant: ScreenshotVariant): Promise<Uint8Array | undefined> }
  /** Verifies custom domains. */
  domainVerifier: DomainVerifier
  domainSales: DomainSales
  /** Projects answer below this domain too. */
  apps_domain: string | null
  /** The URL of a host name at the edge. */
  urlOf(host: string): string
  /** The apps domain, and certificates of public names. */
  publicNames: { status(): PublicNames; describe(host: string): PublicCertificate | null; retry(host: string): Promise<void> }
  /** HTTPS for local names, and the hosts file. */
  localHttps: LocalHttps
  /** Reads the git state of a local folder. */
  describeFolder(path: string): Promise<{ is_git: boolean; branch: string | null }>
  /** Whether an absolute path is a folder. */
  isFolder(path: string): Promise<boolean>
  doctor(isQuick: boolean): Promise<DoctorCheckWithHelp[]>
}

/** Domain sales. */
export interface DomainSales {
  registrars: Registrars
  orders: DomainOrders
  /** Applies the setting `dns_server`. */
  applyDnsServerSetting(): Promise<void>
}
