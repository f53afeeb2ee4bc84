import type { ActivityEntry } from '../../../server/contract/activity.ts'
import { activitySentence } from '../../../server/contract/activity-sentences.ts'
import { activityPath, failureText, hasFailed } from '../../lib/activity-link.ts'
import type { DashboardNotification } from './store.ts'

/** An entry of the inbox as a notification. `projectName`: the name of its project, if it is known. */
export function toNotification(entry: ActivityEntry, projectName: string | undefined): DashboardNotification {
  const { id, time, project, details } = entry
  const name = projectName ?? project?.slug
  const title = titleOf(entry, name)
  const facts = [
    title.includes(name ?? '') ? undefined : name,
    details.failure === null ? undefined : failureText(details.failure),
    details.branch === null || title.includes(details.branch) ? undefined : details.branch,
    details.commit_sha?.slice(0, 7),
  ]
  return {
    id,
    kind: hasFailed(entry) ? 'failed' : 'done',
    title,
    text: facts.filter((fact) => fact !== undefined && fact !== '').join(' · '),
    path: activityPath(entry) ?? '/activity',
    at: time,
  }
}

/** Deployments and crashes name the project; all others are as in the list of activity. */
function titleOf(entry: ActivityEntry, name = 'The app'): string {
  const subject = entry.target?.name ? `Preview of ${entry.target.name}` : name
  if (entry.action === 'deployment.ready') return `${subject} is ready`
  if (entry.action === 'deployment.failed') return `${subject} failed`
  if (entry.action === 'project.crashed') return `${name} crashed`
  if (entry.action === 'service.crashed') return `${entry.target?.name ?? 'A service'} of ${name} crashed`
  return activitySentence(entry)
}
