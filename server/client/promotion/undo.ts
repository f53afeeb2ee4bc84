import { ApiError } from '../api-error.ts'
import type { PromotionProject } from './client.ts'
import { isUnsupported } from './report.ts'
import type { PromotionProgress, PromotionRequest } from './request.ts'
import { cancelDeployment, createTargetProject, findAddedVariables, findServingDeployment, findStartedDeployments } from './target.ts'

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
      if (!hasCode(error, 'project_not_found')) throw error
    })
    return
  }
  const { env_vars } = done.known_variables ? await to.client.call('listEnvVars', { params }) : { env_vars: [] }
  for (const { id } of findAddedVariables(variables, done, env_vars))
    await to.client.call('deleteEnvVar', { params: { ...params, id } }).catch((error: unknown) => {
      if (!hasCode(error, 'env_var_not_found')) throw error
    })
  if (done.is_changed) {
    const { updateProject, updateProjectSettings, updateWatching } = before
    if (updateProject) await to.client.call('updateProject', { params, body: updateProject })
    if (updateProjectSettings) await to.client.call('updateProjectSettings', { params, body: updateProjectSettings }).catch(ignoreUnsupported)
    if (updateWatching) await to.client.call('updateWatching', { params, body: updateWatching }).catch(ignoreUnsupported)
  }
  await undoParts(to, done)
  // Each change may have started a deployment, and so may the upload.
  for (const { id } of await findStartedDeployments(to, done)) await cancelDeployment(to, id)
  // A deployment may have become ready before it was canceled, so the target would serve the new variables or the uploaded source.
  const now = done.known && (await findServingDeployment(to))
  if (!now || done.known?.includes(now.id)) return
  if (done.serving) await to.client.call('rollbackDeployment', { params: { ...params, id: done.serving } })
  else await to.client.call('stopProject', { params })
}

/** Removes what the promotion added to an existing project, and restores the data that it replaced. */
async function undoParts({ client, slug }: PromotionProject, done: PromotionProgress): Promise<void> {
  // Before the volumes, because services are started again when theirs is replaced, and a dump needs its service running.
  for (const id of Object.values(done.replaced_services ?? {})) await client.call('restoreDatabase', { params: { slug, id } }).catch(ignoreMissing)
  for (const { name, snapshot_id } of done.replaced_volumes ?? []) {
    if (snapshot_id !== null) await client.call('restoreVolume', { params: { slug, name }, body: { snapshot_id } }).catch(ignoreMissing)
    // A volume that the live version already uses keeps its files.
    else await client.call('deleteVolume', { params: { slug, name } }).catch(ignoreMissing)
  }
  if (done.replaced_database !== undefined)
    await client.call('restoreDatabase', { params: { slug, id: done.replaced_database } }).catch(ignoreMissing)
  for (const name of done.added_volumes ?? []) await client.call('detachVolume', { params: { slug, name } }).catch(ignoreMissing)
  for (const name of done.added_services ?? []) await client.call('removeManagedService', { params: { slug, name } }).catch(ignoreMissing)
  if (done.turned_on_mail) await client.call('updateMail', { params: { slug }, body: { is_enabled: false } })
  if (done.made_database) await client.call('deleteDatabase', { params: { slug } }).catch(ignoreMissing)
}

const hasCode = (error: unknown, code: ApiError['code']): boolean => error instanceof ApiError && error.code === code

function ignoreUnsupported(error: unknown): void {
  if (!isUnsupported(error)) throw error
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof ApiError) || (error.status !== 404 && error.code !== 'volume_in_use')) throw error
}
