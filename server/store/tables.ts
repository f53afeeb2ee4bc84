import type { Generated } from 'kysely'
import type { PurgeKind, PurgeSource } from '../contract/cache.ts'
import type { DeploymentStatus, DeploymentTarget, DeploymentTrigger, SourceKind } from '../contract/deployments.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { PlanName } from '../contract/instance.ts'
import type { PreviewVolumes } from '../contract/project-settings.ts'
import type { ProjectStatus } from '../contract/projects.ts'
import type { TokenScope } from '../contract/token-scopes.ts'
import type { CronRun } from '../contract/services.ts'
import type { DatabaseDumpTable, DatabaseRow } from './database-tables.ts'
import type { CleanupTable, ForkRow, MailboxRow, MailMessageTable, ManagedServiceRow, RegistryRow } from './managed-tables.ts'
import type { EnvVarTable } from './env-var-tables.ts'
import type { DeploymentStepRow } from './deployment-step-tables.ts'
import type { ScalingDecisionTable } from './autoscaling-tables.ts'
import type { ActivityTable } from './activity-tables.ts'
import type { LogDrainTable } from './log-drain-tables.ts'
import type {
  DeployHookTable,
  NotificationAttemptRow,
  NotificationDeliveryTable,
  NotificationIncidentRow,
  NotificationTargetTable,
} from './notification-tables.ts'
import type { PublicCertificateTables } from './public-certificate-tables.ts'
import type { RequestCaptureRow } from './request-tables.ts'
import type { ProjectVolumeRow, UnsavedFilesRow } from './volume-tables.ts'

/** The rows. Names are those of the API; times are ISO text; booleans are 0 or 1; `sealed_` columns are encrypted. */
export interface Tables extends PublicCertificateTables {
  accounts: AccountTable
  users: UserRow
  team_members: { account_id: string; user_id: string; created_at: string }
  tokens: TokenRow
  sessions: { id: string; user_id: string; hash: string; expires_at: string; created_at: string }
  sign_in_codes: { hash: string; user_id: string; expires_at: string }
  settings: { key: string; value: string }
  cluster_identities: { id: string; sealed_identity: Uint8Array }
  projects: ProjectTable
  deployments: DeploymentTable
  deployment_steps: DeploymentStepRow
  env_vars: EnvVarTable
  cleanups: CleanupTable
  purge_tokens: { project_id: string; hash: string; created_at: string }
  cache_events: CacheEventTable
  domains: DomainTable
  owned_domains: OwnedDomainRow
  billing_events: { id: string; created_at: string }
  email_verifications: { hash: string; user_id: string; expires_at: string }
  invitations: InvitationRow
  idempotency_keys: IdempotencyKeyRow
  authorities: { id: string; certificate: string; sealed_key: Uint8Array; created_at: string }
  passwords: { user_id: string; hash: string; created_at: string }
  databases: DatabaseRow
  database_dumps: DatabaseDumpTable
  watches: WatchRow
  branches: { project_id: string; branch: string; commit_sha: string }
  skipped_pushes: SkippedPushRow
  previews: PreviewRow
  screenshots: { deployment_id: string; variant: 'desktop' | 'mobile'; bytes: number; created_at: string }
  remotes: RemoteRow
  forks: ForkRow
  cron_runs: CronRunTable
  managed_services: ManagedServiceRow
  registries: RegistryRow
  mailboxes: MailboxRow
  mail_messages: MailMessageTable
  project_volumes: ProjectVolumeRow
  unsaved_files: UnsavedFilesRow
  request_captures: RequestCaptureRow
  activity: ActivityTable
  activity_read: { user_id: string; seq: number }
  activity_retention: { id: number; keep_from: number }
  notification_targets: NotificationTargetTable
  notification_deliveries: NotificationDeliveryTable
  notification_attempts: NotificationAttemptRow
  notification_incidents: NotificationIncidentRow
  deploy_hooks: DeployHookTable
  log_drains: LogDrainTable
  scaling_decisions: ScalingDecisionTable
  source_files: { project_id: string; digests: string }
}

interface CronRunTable extends Omit<CronRunRow, 'seq'> {
  seq: Generated<number>
}

export interface CronRunRow extends CronRun {
  seq: number
  project_id: string
}

/** How a project's repository is watched. No row: default settings, not checked yet. */
export interface WatchRow {
  project_id: string
  deploys_pushes: 0 | 1
  previews: 0 | 1
  preview_databases: 0 | 1
  pull_requests: 0 | 1
  /** Pull requests get the same as other previews: all preview variables, a database, volumes. */
  pull_request_secrets: 0 | 1
  /** The pull requests that existed when the setting was turned on are recorded. */
  knows_pull_requests: 0 | 1
  /** The forge publishes merge refs, so a pull request without one is closed. */
  has_merge_refs: 0 | 1
  /** The repository whose branches are stored. A different one is checked as if for the first time. */
  repo_url: string | null
  checked_at: string | null
  /** Why the last check failed; null if it succeeded. */
  message: string | null
}

/** The last push to a branch that was not deployed, because it changes nothing in the watch paths. */
export interface SkippedPushRow {
  project_id: string
  branch: string
  commit_sha: string
  commit_message: string
  /** The deployment whose commit it was compared with. */
  base_id: string
  /** How many files differ from that commit; none of them matches. */
  changed_files: number
  skipped_at: string
}

/** An open preview. */
export interface PreviewRow {
  project_id: string
  branch: string
  /** `{branch}--{slug}.localhost`, unique on the instance. */
  host: string
  is_cold: 0 | 1
  last_request_at: string | null
  created_at: string
  updated_at: string
}

interface CacheEventTable extends Omit<CacheEventRow, 'seq'> {
  seq: Generated<number>
}

export interface CacheEventRow {
  seq: number
  id: string
  project_id: string
  kind: PurgeKind
  /** JSON lists. */
  tags: string
  urls: string
  purged: number
  source: PurgeSource
  created_at: string
}

interface DomainTable extends Omit<DomainRow, 'seq' | 'failed_checks'> {
  seq: Generated<number>
  failed_checks: Generated<number>
}

export interface DomainRow {
  seq: number
  id: string
  account_id: string
  project_id: string
  hostname: string
  status: 'pending' | 'verified' | 'failed' | 'transfer_requested'
  verified_at: string | null
  created_at: string
  last_check_at: string | null
  last_check_error: string | null
  /** The number of consecutive checks that found a verified domain pointing elsewhere. */
  failed_checks: number
  /** The purchase of the domain; null if it was not bought through this instance. */
  owned_domain_id: string | null
}

/** A domain bought through this instance. It belongs to the account even if no project uses it. */
export interface OwnedDomainRow {
  id: string
  account_id: string
  hostname: string
  registrar: string
  reference: string
  expires_at: string
  auto_renew: 0 | 1
  sealed_registrant: Uint8Array | null
  sealed_auth_code: Uint8Array | null
  transfer_requested_at: string | null
  created_at: string
  /** 0 during the order. The row is written first, so that an interrupted order is completed or undone. */
  is_registered: 0 | 1
  /** Whether its A record was set to this instance. */
  is_pointed: 0 | 1
  /** The project it was ordered for, which may be deleted. */
  project_id: string | null
  credits_used: number
  /** Why the renewal or the DNS update failed; null if it succeeded. */
  last_error: string | null
}

export interface InvitationRow {
  id: string
  account_id: string
  email: string
  hash: string
  expires_at: string
  accepted_at: string | null
  created_at: string
}

/** Another instance that the dashboard can show. */
export interface RemoteRow {
  id: string
  name: string
  origin: string
  hue: number
  sealed_token: Uint8Array | null
  created_at: string
}

export interface IdempotencyKeyRow {
  account_id: string
  key: string
  /** Digest of method, path and body. */
  fingerprint: string
  /** Null while the first request is in progress. */
  status: number | null
  headers: string | null
  sealed_body: Uint8Array | null
  created_at: string
}

/** Columns that have defaults for new accounts. */
interface AccountTable extends Omit<AccountRow, 'billing_interval' | 'free_domain_credits'> {
  billing_interval: Generated<AccountRow['billing_interval']>
  free_domain_credits: Generated<number>
}

export interface AccountRow {
  id: string
  plan: PlanName
  has_payment_method: 0 | 1
  created_at: string
  trial_ends_at: string | null
  billing_interval: 'monthly' | 'yearly'
  free_domain_credits: number
  customer_id: string | null
  subscription_id: string | null
  subscription_status: string | null
  cancel_at: string | null
  card_last4: string | null
  card_brand: string | null
}

export interface UserRow {
  id: string
  account_id: string
  email: string
  email_verified: 0 | 1
  is_instance_owner: 0 | 1
  created_at: string
}

export interface TokenRow {
  id: string
  user_id: string
  /** `run` is the owner's token in instance.json; it ends with the run. */
  kind: 'api' | 'run'
  name: string
  hash: string
  last4: string
  last_used_at: string | null
  expires_at: string | null
  created_at: string
  /** Null: everything that the user may do. */
  scope: TokenScope | null
  /** The only project that the token sees. */
  project_id: string | null
}

/** Columns that have defaults for new projects. */
interface ProjectDefaults {
  seq: Generated<number>
  health_path: Generated<string>
  health_timeout_s: Generated<number>
  cpu_limit: Generated<number | null>
  preview_volumes: Generated<PreviewVolumes>
  watch_paths: Generated<string>
  public_ports: Generated<string>
  apps: Generated<string>
  tracing: Generated<0 | 1>
  replicas: Generated<number>
  autoscaling: Generated<string | null>
  sticky_sessions: Generated<0 | 1>
  node_labels: Generated<string>
}

type ProjectTable = Omit<ProjectRow, keyof ProjectDefaults> & ProjectDefaults

export interface ProjectRow {
  /** Incremented with every project; defines list order and cursors. */
  seq: number
  id: string
  account_id: string
  name: string
  slug: string
  repo_url: string | null
  sealed_repo_credentials: Uint8Array | null
  /** Set by the instance owner: the repository may be a local folder or at a private address. */
  repo_is_trusted: 0 | 1
  repo_branch: string
  node_version: string
  install_command: string
  build_command: string
  root_directory: string
  memory_limit_mb: number
  /** Cores for the app and its builds; null: the default of each. */
  cpu_limit: number | null
  health_path: string
  health_timeout_s: number
  preview_volumes: PreviewVolumes
  /** Patterns as a JSON list. */
  watch_paths: string
  /** A JSON list. */
  public_ports: string
  /** Folders as a JSON list. */
  apps: string
  tracing: 0 | 1
  /** Of the service with the project's address. Autoscaling changes it. */
  replicas: number
  /** JSON; null: off. */
  autoscaling: string | null
  sticky_sessions: 0 | 1
  /** JSON. */
  node_labels: string
  port: number | null
  status: ProjectStatus
  always_warm: 0 | 1
  is_cold: 0 | 1
  caching_enabled: 0 | 1
  has_purge_token: 0 | 1
  last_request_at: string | null
  created_at: string
  updated_at: string
  /** Facts that `status` is derived from. */
  stopped_at: string | null
  crashed_at: string | null
  /** Marks a deleted project, which is invisible and is cleaned up in the background. */
  deleted_at: string | null
}

interface DeploymentTable extends Omit<DeploymentRow, 'seq' | 'skips_cache'> {
  seq: Generated<number>
  skips_cache: Generated<DeploymentRow['skips_cache']>
}

export interface DeploymentRow {
  seq: number
  id: string
  project_id: string
  status: DeploymentStatus
  target: DeploymentTarget
  trigger: DeploymentTrigger
  source: SourceKind
  branch: string | null
  commit_sha: string | null
  commit_message: string | null
  commit_author: string | null
  is_dirty: 0 | 1
  /** Of a folder or an archive. */
  source_name: string | null
  source_bytes: number | null
  files_changed: number | null
  parent_id: string | null
  is_current: 0 | 1
  url: string | null
  /** JSON of `Failure`. */
  error: string | null
  framework: string | null
  runtime: RuntimeName
  image_bytes: number | null
  queued_ms: number | null
  build_ms: number | null
  deploy_ms: number | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  /** JSON of `Source`, fixed when the deployment was enqueued. */
  source_request: string
  /** JSON of the driver's artifact once it is built; null again after it was discarded. */
  artifact: string | null
  /** Digest of everything that went into the artifact except the source. Equal digests may share the artifact. */
  inputs_digest: string | null
  /** The port that the app was last found on, if it differs from PORT. */
  listen_port: number | null
  /** The number of attempts; a second interruption fails the deployment. */
  attempt: number
  /** Builds without cached dependencies, layers and framework caches. */
  skips_cache: 0 | 1
}
