import { Problem } from '../contract/errors.ts'
import type { Fork, forkOperations } from '../contract/forks.ts'
import { isBranchName } from '../contract/shared.ts'
import type { ForkData } from '../deployments/service.ts'
import { findPreview } from '../store/previews.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import { translateDatabaseErrors } from './databases.ts'
import type { FeatureDeps } from './deps.ts'

export function createForkHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof forkOperations> {
  const { forks } = deps.deployments
  const { db } = deps.store

  const present = async (project: ProjectRow, data: ForkData): Promise<Fork> => {
    const preview = await db.read((tx) => findPreview(tx, project.id, data.branch))
    return { ...data, url: preview ? deps.urlOf(preview.host) : null }
  }

  return {
    async listForks({ project }) {
      const { forks: found, production } = await forks.list(project.id)
      return { forks: await Promise.all(found.map((one) => present(project, one))), production }
    },

    async forkEnvironment({ project }, { body: { branch, from_branch } }) {
      requireBranch('branch', branch)
      if (branch === project.repo_branch) throw invalid('branch', `“${branch}” is the production branch. Name another branch.`)
      if (from_branch === branch) throw invalid('from_branch', 'A branch cannot be a copy of itself. Name another branch, or none for production.')
      const from = from_branch === project.repo_branch ? undefined : from_branch
      const { fork, ...result } = await translateDatabaseErrors(forks.create(project, branch, from))
      return { fork: await present(project, fork), ...result }
    },

    removeFork: ({ project }, { query: { branch } }) => translateDatabaseErrors(forks.remove(project, branch)),
  }
}

function requireBranch(path: string, branch: string): void {
  if (!isBranchName(branch)) throw invalid(path, 'This is not a valid name of a git branch.')
}

const invalid = (path: string, message: string) => new Problem('invalid_input', message, { issues: [{ path, message }] })
