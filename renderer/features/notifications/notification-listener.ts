import type { QueryClient } from '@tanstack/react-query'
import { cachedPreviews, reloadPreviews } from '../../api/previews.ts'
import { cachedDomains, reloadDomains } from '../../api/domains.ts'
import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Domain } from '../../../server/contract/domains.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { findCachedProject } from '../../api/query-cache.ts'
import type { ApiClient } from '../../api/api-client.ts'
import type { ApiEvent } from '../../../server/client/operation-types.ts'
import { deploymentTitle } from '../../components/deployment-line.tsx'
import { isTerminal } from '../../lib/deployment-progress.ts'
import type { DashboardNotification } from './store.ts'

interface NotificationListenerOptions {
  client: ApiClient
  cache: QueryClient
  notify(notice: DashboardNotification): void
  /** Whether the user currently sees this path. */
  isVisible(path: string): boolean
  now(): number
}

/** Handles the events of an instance's shared stream before the cache is updated, and notifies of what has ended. */
export function createNotificationListener({
  client,
  cache,
  notify,
  isVisible,
  now,
}: NotificationListenerOptions): (event: ApiEvent<'followInstance'>) => void {
  const runningIds = new Set<string>()

  const deployment = (one: Deployment) => {
    if (!isTerminal(one.status)) {
      runningIds.add(one.id)
      return
    }
    // Notifies once, and only of deployments that were seen running. Canceled deployments are not reported, because the user canceled them.
    if (!runningIds.delete(one.id) || one.status === 'canceled') return
    const project = findCachedProject(cache, one.project_id)
    if (!project) return
    const { slug, name } = project
    const path = `/projects/${slug}/deployments/${one.id}`
    if (isVisible(path) || isVisible(`/projects/${slug}`)) return
    const subject = one.target === 'preview' ? `Preview of ${one.branch ?? 'a branch'}` : name
    notify({
      id: `${one.id} ${one.status}`,
      kind: one.status === 'ready' ? 'done' : 'failed',
      title: one.status === 'ready' ? `${subject} is ready` : `${subject} failed`,
      text: `${one.target === 'preview' ? `${name} · ` : ''}${one.status === 'ready' ? deploymentTitle(one) : (one.error?.message ?? deploymentTitle(one))}`,
      path,
      at: one.finished_at ?? new Date(now()).toISOString(),
    })
  }

  const onProject = (project: Project) => {
    if (project.status !== 'crashed' || (findCachedProject(cache, project.id)?.status ?? 'crashed') === 'crashed') return
    const path = `/projects/${project.slug}/logs`
    if (isVisible(path) || isVisible(`/projects/${project.slug}`)) return
    notify({
      id: `${project.id} crashed ${project.updated_at}`,
      kind: 'failed',
      title: `${project.name} crashed`,
      text: 'It keeps exiting and is no longer restarted. Check its log for the cause.',
      path,
      at: project.updated_at,
    })
  }

  // Domain changes have no event of their own but change the project, so domains that were pending are refetched.
  const checkDomains = async (slug: string) => {
    const before = cachedDomains(cache, slug).filter(isPending)
    if (before.length === 0) return
    const after = await reloadDomains(client, cache, slug)
    for (const { id, hostname, status, last_check_error, verified_at, project_name } of after) {
      if (!before.some((one) => one.id === id) || (status !== 'verified' && status !== 'failed')) continue
      const path = `/projects/${slug}/domains`
      if (isVisible(path)) continue
      notify({
        id: `${id} ${status}`,
        kind: status === 'verified' ? 'done' : 'failed',
        title: status === 'verified' ? `${hostname} is verified` : `${hostname} could not be verified`,
        text: status === 'verified' ? `It now points to ${project_name}.` : (last_check_error ?? 'Its DNS records do not point here.'),
        path,
        at: verified_at ?? new Date(now()).toISOString(),
      })
    }
  }

  // Previews have no event either: a preview that disappeared was closed. A preview closed by the user is on screen and not reported.
  const checkClosedPreviews = async ({ slug, name }: Project) => {
    const path = `/projects/${slug}/previews`
    const before = cachedPreviews(cache, slug)
    if (before.length === 0 || isVisible(path)) return
    const previews = await reloadPreviews(client, cache, slug)
    for (const { branch, deployment_id } of before) {
      if (previews.some((one) => one.branch === branch)) continue
      notify({
        id: `${deployment_id} closed`,
        kind: 'done',
        title: `Preview of ${branch} was closed`,
        text: `${name} · The branch was deleted or the preview was closed. Push the branch again to reopen it.`,
        path,
        at: new Date(now()).toISOString(),
      })
    }
  }

  return (event) => {
    if (event.event === 'deployment') deployment(event.data.deployment)
    else if (event.event === 'project') {
      onProject(event.data.project)
      checkDomains(event.data.project.slug).catch(() => undefined)
      checkClosedPreviews(event.data.project).catch(() => undefined)
    }
  }
}

const isPending = ({ status }: Domain) => status === 'pending'
