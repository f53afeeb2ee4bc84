import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { SourcePlanRequest } from '../deployments/service.ts'
import { parseApps } from '../lib/project-apps.ts'
import { listEnvVars } from '../store/env-vars.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import * as preconditions from './preconditions.ts'

type SourcePlanHandlers = Pick<OperationHandlers, 'planProject' | 'planRepository' | 'planFolder' | 'saveFolderPlan'>

interface PlanChoice {
  root_directory?: string | undefined
  apps?: string[] | undefined
}

export function createSourcePlanHandlers({ store, sourcePlanner, isFolder }: FeatureDeps): SourcePlanHandlers {
  const requireFolder = async (path: string) => {
    if (await isFolder(path)) return
    throw new Problem('invalid_input', 'The folder does not exist.', {
      issues: [{ path: 'path', message: 'Use the absolute path of a folder on the machine of the instance.' }],
    })
  }

  return {
    async planProject({ project, signal }, { body }) {
      preconditions.requireConnectedRepository(project.repo_url)
      const variables = await store.db.read((tx) => listEnvVars(tx, project.id).filter(({ environment }) => environment !== 'preview'))
      const request = createProjectRequest(
        project,
        body,
        variables.map(({ key }) => key),
      )
      return { plan: await sourcePlanner.planProject(project, request, signal) }
    },

    async planRepository({ caller, signal }, { body: { repo_url, repo_branch, ...choice } }) {
      preconditions.requireAllowedRepository(repo_url, caller)
      const source = { kind: 'git', url: repo_url, branch: repo_branch ?? 'main', commit_sha: null, allow_local: caller.is_instance_owner } as const
      return { plan: await sourcePlanner.planRepository(source, createRequest(choice), signal) }
    },

    async planFolder(_context, { body: { path, ...choice } }) {
      await requireFolder(path)
      return { plan: await sourcePlanner.planFolder(path, createRequest(choice)) }
    },

    async saveFolderPlan(_context, { body: { path, ...choice } }) {
      await requireFolder(path)
      return { file: await sourcePlanner.saveFolderPlan(path, createRequest(choice)) }
    },
  }
}

const createRequest = ({ root_directory = '.', apps }: PlanChoice): SourcePlanRequest => ({
  settings: { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory },
  apps,
  variables: [],
  health_path: limits.health_path.default,
})

function createProjectRequest(project: ProjectRow, { root_directory, apps }: PlanChoice, variables: string[]): SourcePlanRequest {
  const { node_version, install_command, build_command, health_path } = project
  const settings = { node_version, install_command, build_command, root_directory: root_directory ?? project.root_directory }
  return { settings, apps, project_apps: parseApps(project.apps), variables, health_path }
}
