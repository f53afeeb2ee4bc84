import type { Deployment } from '../../../server/contract/deployments.ts'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { fetchFile } from '../../api/fetch-file.ts'
import type { CallInput, Client } from '../../api/client.ts'
import { ApiProblem, problemFrom } from '../../api/problem.ts'
import type { PromotionStepName } from '../../stores/promotions.ts'
import type { Settings } from './compare.ts'

/** What somebody chose to bring from one project to another. */
export interface Wish {
  from: { client: Client; slug: string }
  to: { client: Client; slug: string }
  /** `archive`: what this deployment was built from; `git`: the head of the repository, for an instance that gives no sources away. */
  source: { kind: 'archive'; deployment_id: string } | { kind: 'git'; repo_url: string; repo_branch: string }
  /** Of a project that is yet to be made; null for one that is there. */
  new_name: string | null
  settings: NonNullable<CallInput<'updateProject'>['body']>
  /** What those settings are there now. */
  before: Partial<Settings>
  /** Keys of variables whose values go along. */
  variables: ReadonlySet<string>
}

/** What was done so far: a retry goes on from it, a cancel takes it back. */
export interface Done {
  archive?: Blob
  is_made?: boolean
  is_changed?: boolean
  created: { id: string; environment: EnvVar['environment'] }[]
  /** Deployments that were there before. */
  known?: ReadonlySet<string>
}

export interface Telling {
  signal: AbortSignal
  /** Bytes so far, of how many; null when nobody knows. */
  onProgress(bytes: number, total: number | null): void
}

type Step = (wish: Wish, done: Done, telling: Telling) => Promise<{ note: string; deployment?: Deployment; project?: Project }>

/**
 * In this order: what may fail most often comes before anything is done there, and the variables before the build that is to see them.
 * Each may be done again after it failed. A change is never cut off in the middle: whether it was made would be unknown.
 */
export function stepsOf(wish: Wish): PromotionStepName[] {
  const variables = wish.variables.size > 0 ? (['variables'] as const) : []
  return wish.source.kind === 'archive' ? ['source', 'project', ...variables, 'upload'] : ['project', ...variables, 'deploy']
}

export const steps: Record<PromotionStepName, Step> = {
  async source({ from, source }, done, { signal, onProgress }) {
    if (source.kind !== 'archive') return { note: '' }
    const url = from.client.urlOf('downloadSource', { params: { slug: from.slug, id: source.deployment_id } })
    const onBytes = (bytes: number) => onProgress(bytes, null)
    done.archive = await fetchFile(url, { signal, most_bytes: limits.upload.packed_bytes, onProgress: onBytes }).catch((error: unknown) => {
      if (!(error instanceof ApiProblem) || error.code !== 'route_not_found') throw error
      throw new ApiProblem('source_not_found', 'That instance is of a version that gives no sources away. Update it, then try again.', error)
    })
    return { note: '' }
  },

  async project({ to, source, new_name, settings }, done, { signal }) {
    const params = { slug: to.slug }
    let project: Project | undefined
    if (new_name !== null && !done.is_made) {
      const repository = source.kind === 'git' ? { repo_url: source.repo_url, repo_branch: source.repo_branch } : {}
      project = (await to.client.call('createProject', { body: { name: new_name, slug: to.slug, ...repository } })).project
      done.is_made = true
    }
    done.known ??= new Set((await newest(to, signal)).map(({ id }) => id))
    if (Object.keys(settings).length > 0) {
      project = (await to.client.call('updateProject', { params, body: settings })).project
      done.is_changed = true
      const asked = settings.memory_limit_mb
      if (asked !== undefined && project.memory_limit_mb < asked) return { note: `the plan there allows ${project.memory_limit_mb} MB`, project }
    }
    const note = new_name === null ? (done.is_changed ? 'settings changed' : 'left as it is') : 'made'
    return project ? { note, project } : { note }
  },

  async variables({ from, to, variables }, done, { signal }) {
    const read = async ({ client, slug }: Wish['from']) => (await client.call('listEnvVars', { params: { slug }, signal })).env_vars
    const there = new Set((await read(to)).map(({ key }) => key))
    const vars = (await read(from))
      .filter(({ key }) => variables.has(key) && !there.has(key))
      .map(({ key, value, environment, is_sensitive }) => ({ key, value, environment, is_sensitive }))
    for (let at = 0; at < vars.length; at += limits.env_vars.max) {
      const body = { vars: vars.slice(at, at + limits.env_vars.max) }
      const answer = await to.client.call('createEnvVars', { params: { slug: to.slug }, body })
      done.created.push(...answer.created)
      // It would build the source that is there now; the one that comes has the variables too.
      if (answer.deployment_id !== null) await cancel(to, answer.deployment_id)
    }
    return { note: `${done.created.length} added` }
  },

  async upload({ to }, done, { signal, onProgress }) {
    const archive = done.archive ?? new Blob()
    onProgress(0, archive.size)
    const { deployment } = await to.client.upload('uploadProject', { params: { slug: to.slug } }, archive, {
      type: 'application/gzip',
      signal,
      onProgress,
    })
    return { note: '', deployment }
  },

  async deploy({ to }, _done, { signal }) {
    const { deployment } = await to.client.call('deployProject', { params: { slug: to.slug }, signal })
    return { note: '', deployment }
  },
}

/** Takes back what was done there, so that nothing is left half-made. Throws when that fails. */
export async function takeBack({ to, before }: Wish, done: Done): Promise<void> {
  const params = { slug: to.slug }
  if (done.is_made) {
    await to.client.call('deleteProject', { params }).catch((error: unknown) => {
      if (problemFrom(error).code !== 'project_not_found') throw error
    })
    return
  }
  for (const { id } of done.created)
    await to.client.call('deleteEnvVar', { params: { ...params, id } }).catch((error: unknown) => {
      if (problemFrom(error).code !== 'env_var_not_found') throw error
    })
  if (done.is_changed) await to.client.call('updateProject', { params, body: before })
  // Each of those variables may have begun a deployment, and so may the upload have done at the very last moment.
  const known = done.known
  if (known) for (const { id, finished_at } of await newest(to)) if (!known.has(id) && finished_at === null) await cancel(to, id)
}

async function newest({ client, slug }: Wish['to'], signal?: AbortSignal): Promise<Deployment[]> {
  return (await client.call('listDeployments', { params: { slug }, query: { limit: '20' }, ...(signal ? { signal } : {}) })).deployments
}

async function cancel({ client, slug }: Wish['to'], id: string): Promise<void> {
  await client.call('cancelDeployment', { params: { slug, id } }).catch((error: unknown) => {
    if (problemFrom(error).code !== 'deployment_terminal') throw error
  })
}
