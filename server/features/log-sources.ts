import type { FoundLogLine } from '../contract/log-search.ts'
import type { DeploymentService } from '../deployments/service.ts'
import { findDeploymentById } from '../store/deployments.ts'
import { listOpenPreviews } from '../store/previews.ts'
import { findProject } from '../store/projects.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { Tx } from '../store/store.ts'

/** Where a log comes from. */
export type LogSource = Pick<FoundLogLine, 'log' | 'target' | 'branch' | 'service' | 'deployment_id'> & { project: ProjectRow }

const runtimeLogPattern = /^(prj_[0-9a-z]+)(?:_[0-9a-f]{12})?(?:\.(.+))?$/

/** The source of a log by its name: a deployment (build log), or an environment and maybe a service of it. */
export function findLogSource(tx: Tx, stream: string, { findLog }: Pick<DeploymentService['services'], 'findLog'>): LogSource | undefined {
  const [, projectId, service = null] = runtimeLogPattern.exec(stream) ?? []
  if (projectId === undefined) {
    const deployment = findDeploymentById(tx, stream)
    const project = deployment && findProject(tx, deployment.project_id)
    if (!deployment || !project) return undefined
    const { id, target, branch } = deployment
    return { log: 'build', project, target, branch: target === 'preview' ? branch : null, service: null, deployment_id: id }
  }
  const project = findProject(tx, projectId)
  if (!project) return undefined
  const environment = stream.split('.')[0]
  if (environment === projectId) return { log: 'runtime', project, target: 'production', branch: null, service, deployment_id: null }
  const preview = listOpenPreviews(tx, projectId).find(({ branch }) => findLog({ project_id: projectId, branch }) === environment)
  return { log: 'runtime', project, target: 'preview', branch: preview?.branch ?? null, service, deployment_id: null }
}
