import type { Deployment } from '../../contract/deployments.ts'
import { limits } from '../../contract/limits.ts'
import type { Project } from '../../contract/projects.ts'
import { ApiError } from '../api-error.ts'
import { copyDatabase } from './copy-database.ts'
import { copyVolumes } from './copy-volumes.ts'
import { copyLateData, listLateSteps } from './late-data.ts'
import { isUnsupported } from './report.ts'
import type { PromotionProgress, PromotionRequest, PromotionStepHandler, PromotionStepName } from './request.ts'
import { addServices, listPartSteps } from './services.ts'
import { createVariables, listVariables } from './variables.ts'
import { changeInstanceSettings } from './settings.ts'
import {
  cancelDeployment,
  createTargetProject,
  findAddedVariables,
  findServingDeployment,
  findStartedDeployments,
  findSubmittedDeployment,
  listRecentDeployments,
} from './target.ts'

/**
 * In this order: the step that fails most often comes before any change at the target; services, data and variables come before the build that uses
 * them. Each step can be repeated after a failure or after the page was closed, because it detects existing results.
 */
export function promotionStepNames(request: PromotionRequest): PromotionStepName[] {
  const { source, variables, parts } = request
  const isArchive = source.kind === 'archive'
  const before: PromotionStepName[] = [...(isArchive ? (['source'] as const) : []), 'project', ...listPartSteps(parts)]
  return [...before, ...(variables.size > 0 ? (['variables'] as const) : []), isArchive ? 'upload' : 'deploy', ...listLateSteps(parts)]
}

export const promotionSteps: Record<PromotionStepName, PromotionStepHandler> = {
  async source(request, done, { signal, onProgress }) {
    const { from, source } = request
    if (source.kind !== 'archive' || (await findSubmittedDeployment(request, done, signal))) return { note: '' }
    const params = { slug: from.slug, id: source.deployment_id }
    const options = { signal, onProgress, max_bytes: limits.upload.packed_bytes }
    done.archive = await from.client.download('downloadSource', { params }, options).catch((error: unknown) => {
      if (!isUnsupported(error)) throw error
      throw new ApiError('source_not_found', 'That instance does not provide sources yet. Update it, then try again.', { cause: error })
    })
    return { note: '' }
  },

  async project(request, done, { signal, persist, createKey }) {
    const { to, new_name, settings } = request
    const params = { slug: to.slug }
    let project: Project | undefined
    if (new_name !== null && !done.is_made) {
      done.making ??= createKey()
      persist()
      project = await createTargetProject(request, new_name, done)
    }
    done.known ??= (await listRecentDeployments(to, signal)).map(({ id }) => id)
    if (done.serving === undefined) done.serving = (await findServingDeployment(to, signal))?.id ?? null
    const notes: string[] = []
    if (Object.keys(settings).length > 0) {
      done.is_changed = true
      persist()
      if (settings.updateProject) project = (await to.client.call('updateProject', { params, body: settings.updateProject })).project
      const requested_mb = settings.updateProject?.memory_limit_mb
      if (requested_mb !== undefined && project && project.memory_limit_mb < requested_mb)
        notes.push(`the plan there allows ${project.memory_limit_mb} MB`)
      notes.push(...(await changeInstanceSettings(request, done)))
    }
    if (notes.length === 0) notes.push(new_name === null ? (done.is_changed ? 'settings changed' : 'unchanged') : 'created')
    return { note: notes.join(', '), ...(project && { project }) }
  },

  services: addServices,
  volumes: copyVolumes,
  database: copyDatabase,
  data: copyLateData,

  async variables({ from, to, variables }, done, { signal, persist }) {
    const found = await listVariables(to, signal)
    const there = new Set(found.map(({ key }) => key))
    const isRetry = done.known_variables !== undefined
    done.known_variables ??= found.map(({ id }) => id)
    persist()
    let added = findAddedVariables(variables, done, found).length
    const vars = (await listVariables(from, signal))
      .filter(({ key, is_write_only }) => variables.has(key) && !there.has(key) && is_write_only !== true)
      .map(({ key, value, environment, is_sensitive, is_build_secret }) => ({ key, value, environment, is_sensitive, is_build_secret }))
    for (let at = 0; at < vars.length; at += limits.env_vars.max) {
      const answer = await createVariables(to, vars.slice(at, at + limits.env_vars.max))
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
    if (before) return submitted(before, done)
    done.is_sent = true
    persist()
    const archive = done.archive ?? new Blob([])
    onProgress(0, archive.size)
    const params = { slug: to.slug }
    const uploadOptions = { type: 'application/gzip', signal, onProgress }
    const commit = source.kind === 'archive' ? source.commit : undefined
    const { deployment } = commit
      ? await to.client.upload('uploadCommit', { params, query: commit }, archive, uploadOptions)
      : await to.client.upload('uploadProject', { params }, archive, uploadOptions)
    return submitted(deployment, done)
  },

  async deploy(request, done, { signal, persist }) {
    const { to } = request
    const before = await findSubmittedDeployment(request, done, signal)
    if (before) return submitted(before, done)
    done.is_sent = true
    persist()
    const { deployment } = await to.client.call('deployProject', { params: { slug: to.slug }, signal })
    return submitted(deployment, done)
  },
}

/** The deployment that the promotion has started. */
function submitted(deployment: Deployment, done: PromotionProgress): { note: string; deployment: Deployment } {
  done.deployment_id = deployment.id
  return { note: '', deployment }
}
