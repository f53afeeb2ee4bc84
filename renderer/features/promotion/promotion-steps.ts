import type { Deployment } from '../../../server/contract/deployments.ts'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { fetchFile } from '../../api/fetch-file.ts'
import type { ApiClient } from '../../api/api-client.ts'
import type { CallInput } from '../../../server/client/operation-types.ts'
import { ApiError } from '../../../server/client/api-error.ts'
import { createIdempotencyKey } from '../../lib/idempotency-key.ts'
import { toApiError } from '../../lib/api-error.ts'
import type { PromotionStepName } from '../../stores/promotions.ts'
import type { PromotedSettings } from './compare.ts'

/** What the user chose to promote. */
export interface PromotionRequest {
  from: { client: ApiClient; slug: string }
  to: { client: ApiClient; slug: string }
  /** `archive`: the source of this deployment; `git`: the head of the repository, for an instance that does not provide sources. */
  source:
    | { kind: 'archive'; deployment_id: string; commit?: CallInput<'uploadCommit'>['query'] }
    | { kind: 'git'; repo_url: string; repo_branch: string }
  /** For a project to be created; null for an existing one. */
  new_name: string | null
  settings: NonNullable<CallInput<'updateProject'>['body']>
  /** Previous values of those settings at the target. */
  before: Partial<PromotedSettings>
  /** Keys of variables whose values are copied. */
  variables: ReadonlySet<string>
}

/** Completed work: a retry continues from it, a cancelation undoes it. */
export interface PromotionProgress {
  archive?: Blob
  /** Idempotency key of the project creation. */
  making?: string
  is_made?: boolean
  /** Recorded before each attempt, so that a lost response leaves no unknown state. */
  is_changed?: boolean
  /** Ids of variables and deployments that existed before. */
  known_variables?: string[]
  known?: string[]
  /** The previous current deployment; null without one. */
  serving?: string | null
  is_sent?: boolean
}

export interface PromotionStepContext {
  signal: AbortSignal
  /** Bytes sent, and the total; null if unknown. */
  onProgress(bytes: number, total: number | null): void
  /** Persists `done`, in case the page is closed before the next response. */
  persist(): void
}

type PromotionStepHandler = (
  request: PromotionRequest,
  done: PromotionProgress,
  context: PromotionStepContext,
) => Promise<{ note: string; deployment?: Deployment; project?: Project }>

/**
 * In this order: the step that fails most often comes before any change at the target, and variables come before the build that uses them. Each
 * step can be repeated after a failure or after the page was closed, because it detects existing results.
 */
export function promotionStepNames(request: PromotionRequest): PromotionStepName[] {
  const variables = request.variables.size > 0 ? (['variables'] as const) : []
  return request.source.kind === 'archive' ? ['source', 'project', ...variables, 'upload'] : ['project', ...variables, 'deploy']
}

export const promotionSteps: Record<PromotionStepName, PromotionStepHandler> = {
  async source(request, done, { signal, onProgress }) {
    const { from, source } = request
    if (source.kind !== 'archive' || (await findSubmittedDeployment(request, done, signal))) return { note: '' }
    const url = from.client.urlOf('downloadSource', { params: { slug: from.slug, id: source.deployment_id } })
    const onBytes = (bytes: number) => onProgress(bytes, null)
    done.archive = await fetchFile(url, { signal, max_bytes: limits.upload.packed_bytes, onProgress: onBytes }).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'route_not_found') throw error
      throw new ApiError('source_not_found', 'The version of that instance does not provide sources. Update it, then try again.', error)
    })
    return { note: '' }
  },

  async project(request, done, { signal, persist }) {
    const { to, new_name, settings } = request
    const params = { slug: to.slug }
    let project: Project | undefined
    if (new_name !== null && !done.is_made) {
      done.making ??= createIdempotencyKey()
      persist()
      project = await createTargetProject(request, new_name, done)
    }
    done.known ??= (await listRecentDeployments(to, signal)).map(({ id }) => id)
    if (done.serving === undefined) done.serving = (await findServingDeployment(to, signal))?.id ?? null
    if (Object.keys(settings).length > 0) {
      done.is_changed = true
      persist()
      project = (await to.client.call('updateProject', { params, body: settings })).project
      const requested_mb = settings.memory_limit_mb
      if (requested_mb !== undefined && project.memory_limit_mb < requested_mb)
        return { note: `the plan there allows ${project.memory_limit_mb} MB`, project }
    }
    const note = new_name === null ? (done.is_changed ? 'settings changed' : 'unchanged') : 'created'
    return project ? { note, project } : { note }
  },

  async variables({ from, to, variables }, done, { signal, persist }) {
    const read = async ({ client, slug }: PromotionRequest['from']) => (await client.call('listEnvVars', { params: { slug }, signal })).env_vars
    const found = await read(to)
    const there = new Set(found.map(({ key }) => key))
    const isRetry = done.known_variables !== undefined
    done.known_variables ??= found.map(({ id }) => id)
    persist()
    let added = findAddedVariables(variables, done, found).length
    const vars = (await read(from))
      .filter(({ key }) => variables.has(key) && !there.has(key))
      .map(({ key, value, environment, is_sensitive }) => ({ key, value, environment, is_sensitive }))
    for (let at = 0; at < vars.length; at += limits.env_vars.max) {
      const body = { vars: vars.slice(at, at + limits.env_vars.max) }
      const answer = await to.client.call('createEnvVars', { params: { slug: to.slug }, body })
      added += answer.created.length
      // Would build the existing source at the target; the coming deployment uses the variables too.
      if (answer.deployment_id !== null) await cancelDeployment(to, answer.deployment_id)
    }
    if (isRetry)
      for (const { id, trigger } of await findStartedDeployments(to, done, signal)) if (trigger === 'env_change') await cancelDeployment(to, id)
    return { note: `${added} added` }
  },

  async upload(request, done, { signal, onProgress, persist }) {
    const { to, source } = request
    const before = await findSubmittedDeployment(request, done, signal)
    if (before) return { note: '', deployment: before }
    done.is_sent = true
    persist()
    const archive = done.archive ?? new Blob()
    onProgress(0, archive.size)
    const params = { slug: to.slug }
    const uploadOptions = { type: 'application/gzip', signal, onProgress }
    const commit = source.kind === 'archive' ? source.commit : undefined
    const { deployment } = commit
      ? await to.client.upload('uploadCommit', { params, query: commit }, archive, uploadOptions)
      : await to.client.upload('uploadProject', { params }, archive, uploadOptions)
    return { note: '', deployment }
  },

  async deploy(request, done, { signal, persist }) {
    const { to } = request
    const before = await findSubmittedDeployment(request, done, signal)
    if (before) return { note: '', deployment: before }
    done.is_sent = true
    persist()
    const { deployment } = await to.client.call('deployProject', { params: { slug: to.slug }, signal })
    return { note: '', deployment }
  },
}

/** Undoes the changes at the target. Throws if that fails. */
export async function undoPromotion(request: PromotionRequest, done: PromotionProgress): Promise<void> {
  const { to, before, new_name, variables } = request
  const params = { slug: to.slug }
  // If the response to the creation was lost, repeating it with its key returns the result.
  if (new_name !== null && done.making !== undefined && !done.is_made) {
    await createTargetProject(request, new_name, done).catch((error: unknown) => {
      if (done.making !== undefined) throw error
    })
    if (!done.is_made) return
  }
  if (done.is_made) {
    await to.client.call('deleteProject', { params }).catch((error: unknown) => {
      if (toApiError(error).code !== 'project_not_found') throw error
    })
    return
  }
  const { env_vars } = done.known_variables ? await to.client.call('listEnvVars', { params }) : { env_vars: [] }
  for (const { id } of findAddedVariables(variables, done, env_vars))
    await to.client.call('deleteEnvVar', { params: { ...params, id } }).catch((error: unknown) => {
      if (toApiError(error).code !== 'env_var_not_found') throw error
    })
  if (done.is_changed) await to.client.call('updateProject', { params, body: before })
  // Each variable change may have started a deployment, and so may the upload.
  for (const { id } of await findStartedDeployments(to, done)) await cancelDeployment(to, id)
  // A deployment may have become ready before it was canceled, so the target would serve the new variables or the uploaded source.
  const now = done.known && (await findServingDeployment(to))
  if (!now || done.known?.includes(now.id)) return
  if (done.serving) await to.client.call('rollbackDeployment', { params: { ...params, id: done.serving } })
  else await to.client.call('stopProject', { params })
}

/** Throws errors that are permanent; nothing was created then. */
async function createTargetProject({ to, source }: PromotionRequest, name: string, done: PromotionProgress): Promise<Project> {
  const repository = source.kind === 'git' ? { repo_url: source.repo_url, repo_branch: source.repo_branch } : {}
  const body = { name, slug: to.slug, ...repository }
  try {
    const { project } = await to.client.call('createProject', { body, ...(done.making === undefined ? {} : { idempotency_key: done.making }) })
    done.is_made = true
    return project
  } catch (error) {
    // The key is bound to the rejected request, so a changed request needs a new key.
    const { status } = toApiError(error)
    if (status >= 400 && status < 500) delete done.making
    throw error
  }
}

/** The variables at the target that did not exist before. */
function findAddedVariables(variables: PromotionRequest['variables'], { known_variables = [] }: PromotionProgress, found: EnvVar[]): EnvVar[] {
  return found.filter(({ id, key }) => variables.has(key) && !known_variables.includes(id))
}

/** The deployments that started meanwhile and are not finished. */
async function findStartedDeployments(to: PromotionRequest['to'], { known }: PromotionProgress, signal?: AbortSignal): Promise<Deployment[]> {
  return known ? (await listRecentDeployments(to, signal)).filter(({ id, finished_at }) => !known.includes(id) && finished_at === null) : []
}

/** The deployment of an earlier request whose response was lost. */
async function findSubmittedDeployment(
  { to, source }: PromotionRequest,
  { is_sent, known }: PromotionProgress,
  signal: AbortSignal,
): Promise<Deployment | undefined> {
  if (!is_sent || !known) return undefined
  const trigger = source.kind === 'archive' ? 'upload' : 'manual'
  const found = (await listRecentDeployments(to, signal)).find((one) => !known.includes(one.id) && one.trigger === trigger)
  return found && found.status !== 'failed' && found.status !== 'canceled' ? found : undefined
}

async function listRecentDeployments({ client, slug }: PromotionRequest['to'], signal?: AbortSignal): Promise<Deployment[]> {
  return (await client.call('listDeployments', { params: { slug }, query: { limit: '20' }, ...(signal ? { signal } : {}) })).deployments
}

async function findServingDeployment({ client, slug }: PromotionRequest['to'], signal?: AbortSignal): Promise<Deployment | undefined> {
  const query = { target: 'production', status: 'ready', limit: '50' } as const
  const { deployments } = await client.call('listDeployments', { params: { slug }, query, ...(signal ? { signal } : {}) })
  return deployments.find(({ is_current }) => is_current)
}

async function cancelDeployment({ client, slug }: PromotionRequest['to'], id: string): Promise<void> {
  await client.call('cancelDeployment', { params: { slug, id } }).catch((error: unknown) => {
    if (toApiError(error).code !== 'deployment_terminal') throw error
  })
}
