import type { MetricsRange } from '../../server/contract/metrics.ts'
import type { HistoryRange } from '../../server/contract/metrics-ranges.ts'
import type { RouteSort } from '../../server/contract/project-metrics.ts'
import type { DeploymentStatus, DeploymentTarget } from '../../server/contract/deployments.ts'

export interface DeploymentFilter {
  status?: DeploymentStatus
  target?: DeploymentTarget
  branch?: string
}

/** Query keys of an instance's cache. */
export const queryKeys = {
  session: ['session'],
  projects: ['projects'],
  /** Server-side project search results. */
  projectSearch: (terms: readonly string[]) => ['found', ...terms],
  project: (slug: string) => ['project', slug],
  projectSettings: (slug: string) => ['project-settings', slug],
  deployments: (slug: string, filter: DeploymentFilter) => ['deployments', slug, filter],
  /** The latest deployment of a project, or null. */
  latest: (slug: string) => ['latest', slug],
  /** The current production deployment, or null. */
  serving: (slug: string) => ['serving', slug],
  deployment: (slug: string, id: string) => ['deployment', slug, id],
  rollbackPlan: (slug: string, id: string) => ['rollback-plan', slug, id],
  metrics: (slug: string, range: MetricsRange) => ['metrics', slug, range],
  /** Without a range: the shortest that has all data. */
  metricsHistory: (slug: string, range: HistoryRange | undefined) => ['metrics-history', slug, range],
  routes: (slug: string, range: HistoryRange, sort: RouteSort) => ['routes', slug, range, sort],
  requests: (slug: string, filters: object) => ['requests', slug, filters],
  request: (id: string) => ['request', id],
  traces: (slug: string, filters: object) => ['traces', slug, filters],
  trace: (slug: string, id: string) => ['trace', slug, id],
  traceSpan: (slug: string, trace: string, span: string) => ['trace-span', slug, trace, span],
  requestCapture: (slug: string) => ['request-capture', slug],
  /** Followed by the ID of a request. */
  capturedRequests: (slug: string) => ['captured-request', slug],
  /** Of one project, or of all projects if null. */
  activity: (slug: string | null, filters: object) => ['activity', slug, filters],
  activityInbox: ['activity-inbox'],
  logSearch: (filters: object) => ['log-search', filters],
  logLines: (slug: string, position: object) => ['log-lines', slug, position],
  sparklines: ['sparklines'],
  cacheEvents: (slug: string) => ['cache-events', slug],
  envVars: (slug: string) => ['env-vars', slug],
  /** The database of a project, or null. */
  database: (slug: string) => ['database', slug],
  databaseSchema: (slug: string) => ['database-schema', slug],
  /** Without a table: those of all tables. */
  databaseRows: (slug: string, ...table: [] | [object]) => ['database-rows', slug, ...table],
  databaseUpgrade: (slug: string) => ['database-upgrade', slug],
  /** Without a service: the dumps of PostgreSQL and of all services. */
  dumps: (slug: string, ...service: [] | [string]) => ['dumps', slug, ...service],
  allDumps: ['every-dump'],
  disk: ['disk'],
  nodes: ['nodes'],
  standbys: ['standbys'],
  backups: ['backups'],
  previews: (slug: string) => ['previews', slug],
  forks: (slug: string) => ['forks', slug],
  scalingDecisions: (slug: string) => ['scaling-decisions', slug],
  /** The services of production, or of the preview of a branch. */
  services: (slug: string, branch: string | null) => ['services', slug, branch],
  /** The services that a project has or can have. */
  managedServices: (slug: string) => ['managed-services', slug],
  /** Of a project, or of the account if null. */
  notificationTargets: (slug: string | null) => ['notification-targets', slug],
  notificationDeliveries: (slug: string | null) => ['notification-deliveries', slug],
  logDrains: (slug: string) => ['log-drains', slug],
  deployHooks: (slug: string) => ['deploy-hooks', slug],
  registries: (slug: string) => ['registries', slug],
  /** Followed by the branch of a preview, or null. */
  volumes: (slug: string) => ['volumes', slug],
  volumeFiles: (slug: string) => ['volume-files', slug],
  unsavedFiles: (slug: string) => ['unsaved-files', slug],
  mail: (slug: string) => ['mail', slug],
  mailMessage: (slug: string, id: string) => ['mail-message', slug, id],
  cronRuns: (slug: string, name: string) => ['cron-runs', slug, name],
  devServers: (slug: string) => ['dev-servers', slug],
  watching: (slug: string) => ['watching', slug],
  /** The plan of a source before it is deployed. */
  sourcePlan: (source: object, choice: object) => ['source-plan', source, choice],
  https: ['https'],
  publicNames: ['public-names'],
  hostsFile: ['hosts-file'],
  lan: ['lan'],
  settings: ['settings'],
  billing: ['billing'],
  allDomains: ['domains'],
  /** Of one project, or of all projects if null. */
  domains: (slug: string | null) => ['domains', slug],
  domain: (id: string) => ['domain', id],
  allDomainOffers: ['offers'],
  domainOffers: (query: string) => ['offers', query],
  users: ['users'],
  team: ['team'],
  tokens: ['tokens'],
  doctor: ['doctor'],
  instanceUsage: ['instance-usage'],
  /** Both exist only for the instance that served the page. */
  remotes: ['remotes'],
  remoteState: (id: string, has_token: boolean) => ['remote-state', id, has_token],
} as const
