import type { DeploymentDetail } from '../contract/deployments.ts'
import { limits } from '../contract/limits.ts'
import { type EnqueueRequest, linkedRepository } from '../deployments/service.ts'
import { findCurrentProductionDeployment, listDeployments, listSteps } from '../store/deployments.ts'
import type { LogStore } from '../store/log-store.ts'
import { paginate } from '../store/pagination.ts'
import { findProjectBySlug } from '../store/projects.ts'
import { Problem } from '../contract/errors.ts'
import { isWithinProject, listCallerAccountIds, requireDeployment } from './access.ts'
import type { OperationContext, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { enqueueDeployment } from './enqueue.ts'
import * as preconditions from './preconditions.ts'
import { presentDeployment } from './presenters.ts'
import { parseCursor } from './projects.ts'

type DeploymentHandlers = Pick<
  OperationHandlers,
  | 'deployProject'
  | 'createDeployment'
  | 'retryDeployment'
  | 'cancelDeployment'
  | 'rollbackDeployment'
  | 'planRollback'
  | 'listDeployments'
  | 'listGlances'
  | 'getDeployment'
  | 'streamBuildLog'
  | 'streamRuntimeLog'
  | 'downloadSource'
>

export function createDeploymentHandlers(deps: FeatureDeps): DeploymentHandlers {
  const { db, logs } = deps.store

  const enqueue = (context: OperationContext, request: EnqueueRequest) => enqueueDeployment(deps, context, request)

  return {
    async deployProject(context) {
      const { project } = context
      return enqueue(context, { project_id: project.id, trigger: 'manual', source: linkedRepository(project) })
    },

    async createDeployment(context, { body: { deployment_id, no_cache } }) {
      const { project } = context
      if (deployment_id === undefined)
        return enqueue(context, { project_id: project.id, trigger: 'manual', source: linkedRepository(project), no_cache: no_cache === true })
      await db.read((tx) => requireDeployment(tx, project.id, deployment_id))
      return enqueue(context, { project_id: project.id, trigger: 'retry', source: { of: deployment_id }, no_cache: no_cache === true })
    },

    async retryDeployment(context) {
      const { project, deployment } = context
      return enqueue(context, { project_id: project.id, trigger: 'retry', source: { of: deployment.id } })
    },

    async rollbackDeployment(context) {
      const { project, deployment } = context
      preconditions.requireRollbackTarget(deployment)
      return enqueue(context, { project_id: project.id, trigger: 'rollback', source: { of: deployment.id } })
    },

    async planRollback({ deployment }) {
      preconditions.requireRollbackTarget(deployment)
      return { plan: await deps.deployments.planRollback(deployment) }
    },

    async cancelDeployment({ deployment }) {
      if ((await deps.deployments.cancel(deployment.id)) === 'terminal')
        throw new Problem('deployment_terminal', 'This deployment has already finished and cannot be canceled.')
      return { ok: true }
    },

    async listDeployments({ project }, { query }) {
      const limit = query.limit ?? limits.page.default
      const { target, branch, status } = query
      return db.read((tx) => {
        const list = `deployments ${project.id}`
        const before = parseCursor(list, query.cursor)
        const rows = listDeployments(tx, { project_id: project.id, before, limit: limit + 1, target, branch, status })
        const page = paginate(list, rows, limit)
        return { deployments: page.rows.map((row) => presentDeployment(tx, row)), next_cursor: page.next_cursor }
      })
    },

    async listGlances({ caller }, { query }) {
      return db.read((tx) => {
        const accounts = listCallerAccountIds(tx, caller)
        const glances = query.slugs.flatMap((slug) => {
          const project = findProjectBySlug(tx, slug)
          if (!project || !accounts.includes(project.account_id) || !isWithinProject(caller, project.id)) return []
          const [latest] = listDeployments(tx, { project_id: project.id, before: undefined, limit: 1 })
          const serving = latest?.is_current === 1 && latest.target === 'production' ? latest : findCurrentProductionDeployment(tx, project.id)
          return { slug, latest: latest ? presentDeployment(tx, latest) : null, serving: serving ? presentDeployment(tx, serving) : null }
        })
        return { glances }
      })
    },

    async getDeployment({ deployment: row }, { query }) {
      return db.read((tx) => {
        const steps = listSteps(tx, row.id).map(({ name, status, started_at, finished_at }) => ({ name, status, started_at, finished_at }))
        return {
          deployment: {
            ...presentDeployment(tx, row),
            ...readBuildLog(logs, row.id, query.build_log === 'false' ? 0 : limits.build_log_bytes),
            steps,
          },
        }
      })
    },

    async downloadSource({ deployment, signal }) {
      return deps.deployments.exportSource(deployment.id, signal)
    },

    async streamBuildLog({ deployment, signal }, { query }) {
      return deps.deployments.followBuildLog(deployment.id, { last_event_id: query.last_event_id, signal })
    },

    async streamRuntimeLog({ project, signal }, { query }) {
      return deps.deployments.followRuntimeLog(project.id, {
        branch: query.branch === project.repo_branch ? undefined : query.branch,
        lines: query.lines ?? limits.runtime_log_lines.default,
        last_event_id: query.last_event_id,
        json: query.format === 'json',
        signal,
      })
    },
  }
}

/** The end of the build log as text, starting at a line start. */
function readBuildLog(
  logs: LogStore,
  deploymentId: string,
  max_bytes: number,
): Pick<DeploymentDetail, 'build_log' | 'build_log_truncated' | 'build_log_lines'> {
  const total = logs.readEnd(deploymentId).line
  if (max_bytes === 0) return { build_log: '', build_log_truncated: total > 0, build_log_lines: total }
  // Records are longer than their lines, so reading twice the size is enough.
  const lines = logs
    .readTail(deploymentId, max_bytes * 2)
    .flatMap((chunk) => chunk.body.split('\n'))
    .filter((record) => record.startsWith('{"seq"'))
    .map(extractLine)
  let bytes = 0
  let firstIncluded = lines.length
  while (firstIncluded > 0) {
    bytes += Buffer.byteLength(lines[firstIncluded - 1] ?? '') + 1
    if (bytes > max_bytes) break
    firstIncluded--
  }
  const included = lines.slice(firstIncluded)
  return { build_log: included.map((line) => `${line}\n`).join(''), build_log_truncated: included.length < total, build_log_lines: total }
}

/** The line is the last field of a record. It is extracted without JSON.parse, because parsing a whole log would block the event loop. */
function extractLine(record: string): string {
  const text = record.slice(record.indexOf('"line":"') + '"line":"'.length, -2)
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}
