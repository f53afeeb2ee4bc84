import { Problem } from '../contract/errors.ts'
import type { ReplayTarget } from '../contract/request-captures.ts'
import { findDeployment } from '../store/deployments.ts'
import { findPreview } from '../store/previews.ts'
import type { StoredRequest } from '../store/request-store.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { FeatureDeps } from './deps.ts'

/** The host of a target, always one of the project. A service or an additional port of the target keeps its own, if the request was sent to it. */
export async function resolveReplayHost(
  deps: Pick<FeatureDeps, 'store' | 'findRoute'>,
  project: ProjectRow,
  request: Pick<StoredRequest, 'host'>,
  target: ReplayTarget,
): Promise<string> {
  const environment = await deps.store.db.read((tx) => {
    if (target.kind === 'production') return { preview: undefined }
    if (target.kind === 'preview') return { preview: target.branch }
    const deployment = findDeployment(tx, project.id, target.id)
    if (!deployment) throw new Problem('replay_not_possible', 'There is no such deployment in this project. Check the ID.')
    if (deployment.is_current === 0)
      throw new Problem(
        'replay_not_possible',
        'This deployment does not run: it serves neither production nor a preview. Roll back to it, or deploy its branch as a preview, then replay the request.',
      )
    return { preview: deployment.target === 'preview' ? (deployment.branch ?? '') : undefined }
  })
  const branch = environment.preview
  const mainHost = branch === undefined ? `${project.slug}.localhost` : (await deps.store.db.read((tx) => findPreview(tx, project.id, branch)))?.host
  if (mainHost === undefined)
    throw new Problem('replay_not_possible', `The branch ${branch} has no preview. Push it, or deploy it, then replay the request.`)
  const route = deps.findRoute(request.host)
  const isSameEnvironment = route?.project_id === project.id && route.visited_as === (branch === undefined ? undefined : mainHost)
  return isSameEnvironment ? request.host : mainHost
}
