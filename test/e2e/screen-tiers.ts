/**
 * Screens that the full tier alone opens, by the screen of the default tier that stands for them: the same parts with other data, a further
 * dialog of the same kind, or a state that differs by a sentence. A screen with parts of its own stands for itself.
 */
const represented: Record<string, string[]> = {
  welcome: ['welcome-sample'],
  projects: ['projects-none-fits', 'projects-by-name'],
  'projects-failed': ['deployments-failed'],
  'projects-loading': ['overview-loading', 'deployments-loading', 'environment-loading', 'domains-loading', 'metrics-loading', 'account-loading'],
  overview: ['overview-building', 'overview-stopped', 'overview-asleep', 'overview-unsaved', 'overview-new-dev'],
  'no-page': ['no-project', 'no-instance'],
  previews: ['previews-none', 'previews-no-repository', 'previews-skipped'],
  'previews-fork-dialog': ['previews-fork-remove'],
  'deploy-menu': ['roll-back'],
  'environment-changes': ['environment-text'],
  'metrics-day': ['metrics', 'metrics-week', 'metrics-replicas'],
  'log-search': ['log-search-none'],
  'logs-fields': ['logs-part'],
  logs: ['logs-none', 'logs-replicas', 'logs-jump'],
  traces: ['traces-empty', 'traces-filtered'],
  'trace-span': ['trace', 'trace-edge-only', 'trace-large'],
  requests: ['requests-empty', 'requests-filtered', 'requests-capturing'],
  'requests-details': ['requests-details-failed'],
  'requests-replay': ['requests-captured'],
  notifications: ['notifications-none'],
  'notifications-add': ['notifications-edit'],
  'log-drains': ['log-drains-none'],
  'log-drains-add': ['log-drains-edit'],
  tables: ['tables-empty', 'tables-none'],
  'tables-row-sql': ['tables-row'],
  sql: ['sql-error'],
  'settings-registry-add': ['settings-registry-remove'],
  'settings-autoscaling': ['settings-runtime', 'settings-cluster'],
  'services-ports': ['services-none'],
  'services-managed': ['services-managed-remove'],
  'services-dump-import': ['services-dump-create', 'services-dump-restore'],
  mail: ['mail-off'],
  'mail-message': ['mail-headers'],
  'plan-project-apps': ['plan-project', 'plan-managed'],
  'plan-repository': ['plan-apps'],
  deployments: ['deployments-none-fits', 'deployments-skipped'],
  'deployment-ready': ['deployment-running'],
  'terminal-open': ['terminal-exited', 'terminal-ended', 'terminal-refused'],
  terminal: ['terminal-not-live', 'terminal-remote'],
  volumes: ['volumes-none'],
  'volumes-delete': ['volumes-restore', 'volumes-detach', 'volumes-keep'],
  'upload-dialog': ['drop'],
  'upload-refused': ['upload-under-way'],
  promote: ['promote-again', 'promote-nowhere'],
  'promote-report': ['promote-under-way', 'promote-failed'],
  'environment-import': ['environment-add', 'environment-replace'],
  environment: ['environment-empty'],
  database: ['database-empty', 'database-upgrade', 'database-upgraded'],
  domains: ['domains-none', 'domains-every'],
  'domains-order': ['domains-add', 'domains-offers', 'domains-transfer'],
  'network-public': ['domains-certificates'],
  network: ['password'],
  disk: ['disk-unknown-apps'],
  'cache-purge': ['disk-clean'],
  desktop: ['desktop-browser'],
  'token-made': ['token-dialog', 'token-revoke'],
  'help-found': ['help-found-nothing'],
  'help-topic': ['help-keyboard'],
  'instances-add': ['instances-edit', 'instances-remove'],
  'overview-elsewhere': ['instance-elsewhere', 'delete-elsewhere'],
  'instance-silent': ['token-needed'],
  'new-project': ['refused'],
  activity: ['activity-project', 'activity-empty', 'activity-no-match'],
  'notices-unread': ['notices'],
}

const deferred = new Set(Object.values(represented).flat())

/** Whether the default tier opens this screen. */
export const isInDefaultTier = (name: string): boolean => !deferred.has(name) && !name.startsWith('long-')

/** Fails on a name that no screen has, and on a screen that stands for others but is deferred itself. */
export function checkTiers(names: string[]): void {
  const wrong = [
    ...Object.keys(represented).filter((name) => deferred.has(name)),
    ...[...Object.keys(represented), ...deferred].filter((name) => !names.includes(name)),
  ]
  if (wrong.length > 0) throw new Error(`screen-tiers.ts: ${wrong.join(', ')}`)
}
