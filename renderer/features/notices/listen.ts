import type { QueryClient } from '@tanstack/react-query'
import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Domain } from '../../../server/contract/domains.ts'
import type { Preview } from '../../../server/contract/previews.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { knownProject } from '../../api/cache.ts'
import type { Client, EventOf } from '../../api/client.ts'
import type { DomainList } from '../../api/domains.ts'
import { keys } from '../../api/keys.ts'
import { deploymentTitle } from '../deployments/deployment-line.tsx'
import { isTerminal } from '../deployments/progress.ts'
import type { Notice } from './store.ts'

interface Listening {
  client: Client
  cache: QueryClient
  tell(notice: Notice): void
  /** Whether the person sees this place right now. */
  isSeen(path: string): boolean
  now(): number
}

/** Hears what the shared stream of an instance tells, before the cache does, and says what of it is over. */
export function createListener({ client, cache, tell, isSeen, now }: Listening): (event: EventOf<'followInstance'>) => void {
  const underWay = new Set<string>()

  const deployment = (one: Deployment) => {
    if (!isTerminal(one.status)) {
      underWay.add(one.id)
      return
    }
    // Told once, and only of what was seen to run. Who cancels knows.
    if (!underWay.delete(one.id) || one.status === 'canceled') return
    const project = knownProject(cache, one.project_id)
    if (!project) return
    const { slug, name } = project
    const path = `/projects/${slug}/deployments/${one.id}`
    if (isSeen(path) || isSeen(`/projects/${slug}`)) return
    const what = one.target === 'preview' ? `Preview of ${one.branch ?? 'a branch'}` : name
    tell({
      id: `${one.id} ${one.status}`,
      kind: one.status === 'ready' ? 'done' : 'failed',
      title: one.status === 'ready' ? `${what} is ready` : `${what} failed`,
      text: `${one.target === 'preview' ? `${name} · ` : ''}${one.status === 'ready' ? deploymentTitle(one) : (one.error?.message ?? deploymentTitle(one))}`,
      path,
      at: one.finished_at ?? new Date(now()).toISOString(),
    })
  }

  const crash = (project: Project) => {
    if (project.status !== 'crashed' || (knownProject(cache, project.id)?.status ?? 'crashed') === 'crashed') return
    const path = `/projects/${project.slug}/logs`
    if (isSeen(path) || isSeen(`/projects/${project.slug}`)) return
    tell({
      id: `${project.id} crashed ${project.updated_at}`,
      kind: 'failed',
      title: `${project.name} has crashed`,
      text: 'It ended again and again and is no longer started. Its log has the reason.',
      path,
      at: project.updated_at,
    })
  }

  // Domains ride on no stream, but a change of theirs is news of their project: those that were seen waiting are looked at again.
  const names = async (slug: string) => {
    const before = cache.getQueryData<DomainList>(keys.domains(slug))?.domains.filter(isWaiting) ?? []
    if (before.length === 0) return
    const after = await client.call('listProjectDomains', { params: { slug } })
    for (const { id, hostname, status, last_check_error, verified_at, project_name } of after.domains) {
      if (!before.some((one) => one.id === id) || (status !== 'verified' && status !== 'failed')) continue
      const path = `/projects/${slug}/domains`
      if (isSeen(path)) continue
      tell({
        id: `${id} ${status}`,
        kind: status === 'verified' ? 'done' : 'failed',
        title: status === 'verified' ? `${hostname} is verified` : `${hostname} could not be verified`,
        text: status === 'verified' ? `It leads to ${project_name} now.` : (last_check_error ?? 'Its records do not lead here.'),
        path,
        at: verified_at ?? new Date(now()).toISOString(),
      })
    }
    cache.setQueryData(keys.domains(slug), after)
  }

  // Nor do previews: those that were seen and are there no more were closed. Who closes one by hand looks at it.
  const closed = async ({ slug, name }: Project) => {
    const path = `/projects/${slug}/previews`
    const before = cache.getQueryData<Preview[]>(keys.previews(slug)) ?? []
    if (before.length === 0 || isSeen(path)) return
    const { previews } = await client.call('listPreviews', { params: { slug } })
    for (const { branch, deployment_id } of before) {
      if (previews.some((one) => one.branch === branch)) continue
      tell({
        id: `${deployment_id} closed`,
        kind: 'done',
        title: `Preview of ${branch} was closed`,
        text: `${name} · Its branch is gone, or somebody closed it. Push the branch again to have it back.`,
        path,
        at: new Date(now()).toISOString(),
      })
    }
    cache.setQueryData(keys.previews(slug), previews)
  }

  return (event) => {
    if (event.event === 'deployment') deployment(event.data.deployment)
    else if (event.event === 'project') {
      crash(event.data.project)
      names(event.data.project.slug).catch(() => undefined)
      closed(event.data.project).catch(() => undefined)
    }
  }
}

const isWaiting = ({ status }: Domain) => status === 'pending'
