import type { FoundLogLine } from '../contract/log-search.ts'
import type { DeploymentService } from '../deployments/service.ts'
import { findDeploymentById } from '../store/deployments.ts'
import { parseLogName } from '../store/log-names.ts'
import { listOpenPreviews } from '../store/previews.ts'
import { findProject } from '../store/projects.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { Tx } from '../store/store.ts'

/** Where a log comes from. */
export type LogSource = Pick<FoundLogLine, 'log' | 'target' | 'branch' | 'service' | 'deployment_id'> & { project: ProjectRow }

/** The source of a log by its name: a deployment (build log), or an environment and maybe a service of it. */
export function findLogSource(tx: Tx, stream: string, { findLog }: Pick<DeploymentService['services'], 'findLog'>): LogSource | undefined {
  const { project_id, deployment_id, environment, service } = parseLogName(stream)
  if (deployment_id !== null) {
    const deployment = findDeploymentById(tx, deployment_id)
    const project = deployment && findProject(tx, deployment.project_id)
    if (!deployment || !project) return undefined
    const { target, branch } = deployment
    return { log: 'build', project, target, branch: target === 'preview' ? branch : null, service: null, deployment_id }
  }
  const project = project_id === null ? undefined : findProject(tx, project_id)
  if (!project) return undefined
  if (environment === 'production') return { log: 'runtime', project, target: 'production', branch: null, service, deployment_id }
  const [name] = stream.split('.')
  const preview = listOpenPreviews(tx, project.id).find(({ branch }) => findLog({ project_id: project.id, branch }) === name)
  return { log: 'runtime', project, target: 'preview', branch: preview?.branch ?? null, service, deployment_id }
}
