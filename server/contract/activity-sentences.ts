import type { ActivityAction } from './activity-actions.ts'
import type { ActivityEntry } from './activity.ts'

/**
 * What an entry of the activity log says, for every screen and the command line. `{target}` is the name of the target, `{of branch}` its branch,
 * `{variables}`, `{settings}` and `{kinds}` the names that changed.
 */
const sentences: Readonly<Record<ActivityAction, string>> = {
  'project.created': 'created the project',
  'project.updated': 'changed {settings} of the project',
  'project.deleted': 'deleted the project',
  'project.stopped': 'stopped the project',
  'project.crashed': 'The app crashed and is no longer restarted',
  'service.crashed': 'The service {target} crashed and is no longer restarted',
  'deployment.created': 'started a deployment{of branch}',
  'deployment.rolled_back': 'rolled back to an earlier deployment',
  'deployment.canceled': 'canceled a deployment{of branch}',
  'deployment.ready': 'The deployment{of branch} is ready',
  'deployment.failed': 'The deployment{of branch} failed',
  'preview.closed': 'The preview{of branch} was closed',
  'build_cache.cleared': 'cleared the build cache',
  'env_vars.set': 'set {variables}',
  'env_vars.updated': 'changed {variables}',
  'env_vars.deleted': 'deleted {variables}',
  'request_capture.started': 'turned on the capture of requests',
  'request_capture.stopped': 'turned off the capture of requests',
  'request.replayed': 'replayed a request',
  'purge_token.created': 'created a purge token',
  'cache.purged': 'purged the edge cache',
  'domain.added': 'added the domain {target}',
  'domain.checked': 'checked the domain {target}',
  'domain.verified': 'The domain {target} is verified',
  'domain.failed': 'The domain {target} could not be verified',
  'domain.renewed': 'The domain {target} was renewed',
  'domain.deleted': 'removed the domain {target}',
  'domain.purchased': 'bought the domain {target}',
  'domain.transfer_requested': 'requested the transfer of the domain {target}',
  'database.created': 'created the database',
  'database.deleted': 'deleted the database',
  'database.dumped': 'created a dump of the database',
  'database.restored': 'restored the database from a dump',
  'database.imported': 'imported a dump into the database',
  'database.upgraded': 'upgraded the database',
  'database.upgrade_reverted': 'reverted the upgrade of the database',
  'database.upgrade_finished': 'finished the upgrade of the database',
  'database.statement_run': 'ran a statement that can write to the database',
  'database.rows_changed': 'changed rows of the database',
  'database_dump.renamed': 'renamed a database dump',
  'database_dump.deleted': 'deleted a database dump',
  'managed_service.added': 'added the service {target}',
  'managed_service.removed': 'removed the service {target}',
  'service.restarted': 'restarted the service {target}',
  'service.run': 'ran the cron service {target}',
  'registry.added': 'added credentials for the registry {target}',
  'registry.removed': 'removed the credentials for the registry {target}',
  'deploy_hook.created': 'created the deploy hook {target}',
  'deploy_hook.deleted': 'deleted the deploy hook {target}',
  'log_drain.created': 'added the log drain {target}',
  'log_drain.updated': 'changed {settings} of the log drain {target}',
  'log_drain.deleted': 'deleted the log drain {target}',
  'log_drain.tested': 'sent a test line to the log drain {target}',
  'notification_target.created': 'added the notification target {target}',
  'notification_target.updated': 'changed the notification target {target}',
  'notification_target.deleted': 'deleted the notification target {target}',
  'notification_target.tested': 'sent a test to a notification target',
  'notification.redelivered': 'sent a notification again',
  'mail.updated': 'changed {settings} of the mail catcher',
  'mail.message_deleted': 'deleted a caught email',
  'mail.emptied': 'deleted all caught emails',
  'volume.added': 'added the volume {target}',
  'volume.detached': 'detached the volume {target}',
  'volume.snapshot_created': 'created a snapshot of the volume {target}',
  'volume.restored': 'restored the volume {target} from a snapshot',
  'volume.uploaded': 'replaced the files of the volume {target}',
  'volume.deleted': 'deleted the volume {target}',
  'volume.snapshot_deleted': 'deleted a snapshot of the volume {target}',
  'unsaved_files.dismissed': 'dismissed a report of unsaved files',
  'dev_session.created': 'started a development server',
  'dev_session.ended': 'ended a development server',
  'fork.created': 'created a copy of the data for {target}',
  'fork.removed': 'removed the copy of the data{of branch}',
  'command.created': 'ran a command',
  'folder_plan.saved': 'saved a homeport.yaml in a folder',
  'billing.plan_changed': 'changed the plan',
  'billing.canceled': 'canceled the subscription',
  'token.created': 'created the API token {target}',
  'token.revoked': 'revoked the API token {target}',
  'sign_in_link.created': 'created a sign-in link',
  'verification_link.created': 'created a verification link for {target}',
  'user.added': 'added the user {target}',
  'user.verified': 'verified the address of {target}',
  'user.removed': 'removed the user {target}',
  'password.set': 'set a password',
  'setup_code.created': 'created a setup code',
  'team_member.added': 'added {target} to a team',
  'team_member.removed': 'removed {target} from a team',
  'invitation.created': 'invited {target}',
  'invitation.revoked': 'revoked the invitation of {target}',
  'team.joined': 'joined the team',
  'team.left': 'left the team',
  'settings.updated': 'changed {settings} of the instance',
  'certificate_authority.trusted': 'added the certificate authority to the trust store',
  'certificate_authority.removed': 'removed the certificate authority from the trust store',
  'disk.cleaned': 'cleaned the disk{kinds}',
  'backup.created': 'created a backup',
  'backup.deleted': 'deleted the backup {target}',
  'node.updated': 'changed the node {target}',
  'node.removed': 'removed the node {target} from the cluster',
  'node.join_token_read': 'read the token for joining the cluster',
  'node.balanced': 'spread replicas over the nodes of the cluster',
  'remote.added': 'added the instance {target}',
  'remote.updated': 'changed {settings} of the instance {target}',
  'remote.deleted': 'removed the instance {target}',
}

/** The sentence of an entry: who did what, or what happened. `myId`: the user who reads it. */
export function activitySentence(entry: Pick<ActivityEntry, 'action' | 'actor' | 'target' | 'details'>, myId?: string): string {
  const { details, target } = entry
  const template = (sentences as Partial<Record<string, string>>)[entry.action] ?? entry.action.replace('.', ' ').replaceAll('_', ' ')
  const text = template
    .replace('{target}', target?.name ?? '')
    .replace('{of branch}', details.branch === null ? '' : ` of ${details.branch}`)
    .replace('{variables}', describeNames(details.names, 'variable'))
    .replace('{settings}', describeNames(details.names, 'setting'))
    .replace('{kinds}', details.names.length > 0 ? ` (${details.names.join(', ')})` : '')
    .trim()
  return /^[A-Z]/.test(template) ? text : `${actorLabel(entry.actor, myId)} ${text}`
}

export function actorLabel({ kind, name, user_id }: ActivityEntry['actor'], myId?: string): string {
  if (kind === 'user') return user_id !== null && user_id === myId ? 'You' : name
  if (kind === 'token') return `Token ${name}`
  // The name of a push is its hook, unless it is a commit.
  return kind === 'push' ? (name === 'Push' ? 'A push' : name) : 'Homeport'
}

const describeNames = (names: readonly string[], noun: string): string =>
  names.length === 0 ? `${noun}s` : names.length === 1 ? `the ${noun} ${names[0]}` : `${names.length} ${noun}s (${names.join(', ')})`
