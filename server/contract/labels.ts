import type { Autoscaling } from './autoscaling.ts'
import type { RollbackPlan } from './rollbacks.ts'
import type { PlanFact } from './build-plan.ts'
import type { Domain } from './domains.ts'
import type { Deployment, DeploymentStatus, DeploymentTrigger, StepName, StepStatus } from './deployments.ts'
import type { PlanName } from './instance.ts'
import type { LogDrain } from './log-drains.ts'
import type { ClusterNode } from './nodes.ts'
import type { NotificationDelivery, NotificationRules, NotificationTarget } from './notifications.ts'
import type { ServiceKind } from './project-config.ts'
import type { ProjectStatus } from './projects.ts'
import type { CronRun, ServiceStatusName } from './services.ts'
import type { TokenScope } from './token-scopes.ts'

/** The glossary: what the dashboard, the desktop and the command line call the API's codes. */

export const projectStatusLabels = {
  created: 'Not deployed',
  building: 'Building',
  live: 'Live',
  failed: 'Failed',
  crashed: 'Crashed',
  inactive: 'Stopped',
} as const satisfies Record<ProjectStatus, string>

/** For a project or a preview that is live while its app sleeps (`is_cold`). */
export const asleepLabel = 'Live, asleep'

export const deploymentStatusLabels = {
  queued: 'Queued',
  building: 'Building',
  deploying: 'Deploying',
  ready: 'Ready',
  failed: 'Failed',
  canceled: 'Canceled',
} as const satisfies Record<DeploymentStatus, string>

/** For the deployment that serves its target now (`is_current`). */
export const currentLabel = 'Current'

export const stepLabels = {
  clone: 'Fetching source',
  detect: 'Detecting framework',
  install: 'Installing dependencies',
  build: 'Building',
  start: 'Starting',
  health_check: 'Health check',
  route: 'Switching traffic',
} as const satisfies Record<StepName, string>

export const stepStatusLabels = {
  pending: 'Waiting',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  skipped: 'Skipped',
  canceled: 'Canceled',
} as const satisfies Record<StepStatus, string>

export const domainStatusLabels = {
  pending: 'Waiting for DNS',
  verified: 'Verified',
  failed: 'Not pointing here',
  transfer_requested: 'Transferring out',
  expired: 'Expired',
} as const satisfies Record<Domain['status'] | 'expired', string>

/** The status to show: a domain whose registration has ended is expired. */
export const getDomainStatus = ({ status, expires_at }: Pick<Domain, 'status' | 'expires_at'>, now: number): keyof typeof domainStatusLabels =>
  expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : status

/** For a skipped step that comes after the one at which the deployment failed or was canceled. */
export const notReachedLabel = 'Not reached'

export const serviceStatusLabels = {
  starting: 'Starting',
  running: 'Running',
  completed: 'Completed',
  crashed: 'Crashed',
  stopped: 'Stopped',
  asleep: 'Asleep',
  scheduled: 'Scheduled',
} as const satisfies Record<ServiceStatusName, string>

export const nodeAvailabilityLabels = {
  active: 'Active',
  cordoned: 'Cordoned',
  draining: 'Draining',
  drained: 'Drained',
} as const satisfies Record<ClusterNode['availability'], string>

export const nodeEdgeLabels = {
  serving: 'Edge',
  not_listening: 'Edge not listening',
  not_connected: 'Edge not connected',
} as const satisfies Record<NonNullable<ClusterNode['edge']>, string>

export const nodeRoleLabels = { manager: 'Manager', worker: 'Worker' } as const satisfies Record<ClusterNode['role'], string>

export const planLabels = {
  starter: 'Starter',
  basic: 'Basic',
  pro: 'Pro',
  enterprise: 'Enterprise',
} as const satisfies Record<PlanName, string>

export const serviceKindLabels = { web: 'Web', worker: 'Worker', cron: 'Cron', image: 'Image' } as const satisfies Record<ServiceKind, string>

export const cronRunStatusLabels = {
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  skipped: 'Skipped',
  missed: 'Missed',
  interrupted: 'Interrupted',
} as const satisfies Record<CronRun['status'], string>

export const triggerLabels = {
  manual: 'Manual deploy',
  push: 'Git push',
  retry: 'Redeploy',
  rollback: 'Rollback',
  env_change: 'Variables changed',
  upload: 'Upload',
  hook: 'Deploy hook',
} as const satisfies Record<DeploymentTrigger, string>

/** What a deployment is called that has no commit message. */
export function nameSource({ source, source_name, trigger }: Pick<Deployment, 'source' | 'source_name' | 'trigger'>): string {
  if (source === 'git') return triggerLabels[trigger]
  return source_name ?? { folder: 'Working folder', upload: 'Uploaded archive' }[source]
}

export const logDrainKindLabels = { http: 'HTTP', syslog: 'Syslog', file: 'File' } as const satisfies Record<LogDrain['kind'], string>

export const logDrainSourceLabels = { app: 'App logs', build: 'Build logs', request: 'Request log' } as const satisfies Record<
  LogDrain['sources'][number],
  string
>

export const logDrainEnvironmentLabels = {
  all: 'All environments',
  production: 'Production',
  previews: 'Previews',
} as const satisfies Record<LogDrain['environments'], string>

export const logDrainStatusLabels = { off: 'Off', waiting: 'Waiting', delivering: 'Delivering', failing: 'Failing' } as const satisfies Record<
  LogDrain['state']['status'],
  string
>

export const notificationTargetLabels = { email: 'Email', webhook: 'Webhook', slack: 'Slack' } as const satisfies Record<
  NotificationTarget['type'],
  string
>

export const notificationRuleLabels = {
  deployment_failed: 'Deployment failed',
  deployment_ready: 'Deployment ready',
  app_crashed: 'App crashed',
  error_rate: 'Error rate',
  disk: 'Disk nearly full',
  certificate: 'Certificates expire or cannot be issued',
} as const satisfies Record<keyof NotificationRules, string>

export const deliveryStatusLabels = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' } as const satisfies Record<
  NotificationDelivery['status'],
  string
>

/** For a rollback to the current deployment. */
export const restartLabel = 'Restart'

/** The facts that a plan knows about a source. */
export const planFactLabels = {
  framework: 'Framework',
  node_version: 'Node version',
  package_manager: 'Package manager',
  tool: 'Tool',
  workspace: 'Workspace',
  install_command: 'Install command',
  build_command: 'Build command',
  start_command: 'Start command',
  output_directory: 'Output folder',
  dockerfile: 'Dockerfile',
  base_image: 'Base image',
  image: 'Image',
  directory: 'Folder',
  port: 'Port',
  health_check: 'Health check',
  schedule: 'Schedule',
  volume: 'Volume',
  release_command: 'Release command',
  setting: 'Setting',
} as const satisfies Record<PlanFact['name'], string>

/** Actions on a deployment or a project, as in buttons and menus. */
export const actionLabels = {
  deploy: 'Deploy',
  cancel: 'Cancel deployment',
  retry: 'Redeploy',
  rollback: 'Roll back',
  restart: 'Restart',
  stop: 'Stop',
  promote: 'Promote',
  delete: 'Delete',
} as const

export const tokenScopeLabels: Record<TokenScope, string> = { read: 'Read', deploy: 'Deploy', admin: 'Admin' }

export const tokenScopeHints: Record<TokenScope, string> = {
  read: 'States, logs and metrics. No values of variables, no credentials, no data of apps.',
  deploy: 'Deployments, rollbacks, variables, commands and snapshots, and all that Read shows.',
  admin: 'Everything that you may do, including deletion, secrets and settings.',
}

export function describeRollback({ is_instant, rebuild_reason, changed_variables }: RollbackPlan): string {
  if (is_instant) return 'Instant: the stored build starts again.'
  if (rebuild_reason === 'build_removed') return 'Rebuilds, because its build was removed.'
  if (rebuild_reason === 'variables') return `Rebuilds, because variables changed: ${changed_variables.join(', ')}.`
  return 'Rebuilds, because settings or variables changed.'
}

export const describeAutoscaling = ({ min, max, target_concurrency }: Autoscaling): string =>
  `${min} to ${max} replicas, target ${target_concurrency} concurrent ${target_concurrency === 1 ? 'request' : 'requests'} each`
