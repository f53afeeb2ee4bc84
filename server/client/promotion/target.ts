import type { Deployment } from '../../contract/deployments.ts'
import type { EnvVar } from '../../contract/env-vars.ts'
import type { Project } from '../../contract/projects.ts'
import { ApiError } from '../api-error.ts'
import type { PromotionProgress, PromotionRequest } from './request.ts'

/** Throws errors that are permanent; nothing was created then. */
export async function createTargetProject({ to, source }: PromotionRequest, name: string, done: PromotionProgress): Promise<Project> {
  const repository = source.kind === 'git' ? { repo_url: source.repo_url, repo_branch: source.repo_branch } : {}
  const body = { name, slug: to.slug, ...repository }
  try {
    const { project } = await to.client.call('createProject', { body, ...(done.making === undefined ? {} : { idempotency_key: done.making }) })
    done.is_made = true
    return project
  } catch (error) {
    // The key is bound to the rejected request, so a changed request needs a new key.
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) delete done.making
    throw error
  }
}

/** The variables at the target that did not exist before. */
export function findAddedVariables(variables: PromotionRequest['variables'], { known_variables = [] }: PromotionProgress, found: EnvVar[]): EnvVar[] {
  return found.filter(({ id, key }) => variables.has(key) && !known_variables.includes(id))
}

/** The deployments that started meanwhile and are not finished. */
export async function findStartedDeployments(to: PromotionRequest['to'], { known }: PromotionProgress, signal?: AbortSignal): Promise<Deployment[]> {
  return known ? (await listRecentDeployments(to, signal)).filter(({ id, finished_at }) => !known.includes(id) && finished_at === null) : []
}

/** The deployment of an earlier request whose response was lost. */
export async function findSubmittedDeployment(
  { to, source }: PromotionRequest,
  { is_sent, known }: PromotionProgress,
  signal: AbortSignal,
): Promise<Deployment | undefined> {
  if (!is_sent || !known) return undefined
  const trigger = source.kind === 'archive' ? 'upload' : 'manual'
  const found = (await listRecentDeployments(to, signal)).find((one) => !known.includes(one.id) && one.trigger === trigger)
  return found && found.status !== 'failed' && found.status !== 'canceled' ? found : undefined
}

export async function listRecentDeployments({ client, slug }: PromotionRequest['to'], signal?: AbortSignal): Promise<Deployment[]> {
  return (await client.call('listDeployments', { params: { slug }, query: { limit: '20' }, ...(signal ? { signal } : {}) })).deployments
}

export async function findServingDeployment({ client, slug }: PromotionRequest['to'], signal?: AbortSignal): Promise<Deployment | undefined> {
  const query = { target: 'production', status: 'ready', limit: '50' } as const
  const { deployments } = await client.call('listDeployments', { params: { slug }, query, ...(signal ? { signal } : {}) })
  return deployments.find(({ is_current }) => is_current)
}

export async function cancelDeployment({ client, slug }: PromotionRequest['to'], id: string): Promise<void> {
  await client.call('cancelDeployment', { params: { slug, id } }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'deployment_terminal') throw error
  })
}
