import { Problem } from '../contract/errors.ts'
import type { ReplayTarget } from '../contract/request-captures.ts'
import { findDeployment } from '../store/deployments.ts'
import { findPreview } from '../store/previews.ts'
import type { StoredRequest } from '../store/request-store.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import type { FeatureDeps } from './deps.ts'

/** Where a replay goes: always to a host of the project. The caller must call `release` when the response has arrived. */
interface ReplayDestination {
  host: string
  release(): Promise<void>
}

/** A deployment that serves nothing is started for the replay. */
export async function openReplayDestination(
  deps: Pick<FeatureDeps, 'store' | 'findRoute' | 'deployments'>,
  project: ProjectRow,
  request: Pick<StoredRequest, 'host'>,
  target: ReplayTarget,
  signal: AbortSignal,
): Promise<ReplayDestination> {
  const keep = async () => {}
  if (target.kind === 'production') return { host: await findServingHost(deps, project, request, undefined), release: keep }
  if (target.kind === 'preview') return { host: await findServingHost(deps, project, request, target.branch), release: keep }
  const deployment = await deps.store.db.read((tx) => findDeployment(tx, project.id, target.id))
  if (!deployment) throw new Problem('replay_not_possible', 'There is no such deployment in this project. Check the ID.')
  if (deployment.is_current === 1) return { host: await findServingHost(deps, project, request, findBranch(deployment)), release: keep }
  const { host, stop } = await deps.deployments.startTemporaryVersion(deployment, signal)
  return { host, release: stop }
}

/** undefined: production. */
const findBranch = ({ target, branch }: DeploymentRow): string | undefined => (target === 'preview' ? (branch ?? '') : undefined)

/** A service or an additional port of the environment keeps its own host, if the request was sent to it. */
async function findServingHost(
  deps: Pick<FeatureDeps, 'store' | 'findRoute'>,
  project: ProjectRow,
  request: Pick<StoredRequest, 'host'>,
  branch: string | undefined,
): Promise<string> {
  const mainHost = branch === undefined ? `${project.slug}.localhost` : (await deps.store.db.read((tx) => findPreview(tx, project.id, branch)))?.host
  if (mainHost === undefined)
    throw new Problem('replay_not_possible', `The branch ${branch} has no preview. Push it, or deploy it, then replay the request.`)
  const route = deps.findRoute(request.host)
  const isSameEnvironment = route?.project_id === project.id && route.visited_as === (branch === undefined ? undefined : mainHost)
  return isSameEnvironment ? request.host : mainHost
}
