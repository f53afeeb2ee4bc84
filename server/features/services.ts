import { limits } from '../contract/limits.ts'
import { listCronRuns, toCronRun } from '../store/cron-runs.ts'
import { paginate } from '../store/pagination.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { parseCursor } from './projects.ts'

type ServiceHandlers = Pick<OperationHandlers, 'listServices' | 'restartService' | 'streamServiceLog' | 'listCronRuns' | 'runCronService'>

/** The environment in a request; the production branch means production. */
export const toEnvironment = (project: ProjectRow, branch: string | undefined) => ({
  project_id: project.id,
  branch: branch === project.repo_branch ? undefined : branch,
})

export function createServiceHandlers(deps: FeatureDeps): ServiceHandlers {
  const { services } = deps.deployments

  return {
    listServices: async ({ project }, { query }) => services.list(toEnvironment(project, query.branch)),

    async restartService({ project }, { params, query }) {
      await services.restart(toEnvironment(project, query.branch), params.name)
      return { ok: true }
    },

    streamServiceLog: async ({ project, signal }, { params, query: { branch, lines = limits.runtime_log_lines.default, replica, last_event_id } }) =>
      services.followLog(toEnvironment(project, branch), params.name, { lines, replica, last_event_id, signal }),

    async listCronRuns({ project }, { params: { name }, query }) {
      const limit = query.limit ?? limits.page.default
      const list = `cron_runs ${project.id} ${name}`
      const before = parseCursor(list, query.cursor)
      const rows = await deps.store.db.read((tx) => listCronRuns(tx, project.id, name, limit + 1, before))
      const page = paginate(list, rows, limit)
      return { runs: page.rows.map(toCronRun), next_cursor: page.next_cursor }
    },

    runCronService: async ({ project }, { params }) => ({ run: await services.runCron(project.id, params.name) }),
  }
}
