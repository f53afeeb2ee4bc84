import { Problem } from '../contract/errors.ts'
import { listDeploymentsOfProject, listOpenDeployments } from '../store/deployments.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createBuildCacheHandlers(deps: FeatureDeps): Pick<OperationHandlers, 'clearBuildCache'> {
  return {
    async clearBuildCache({ project }) {
      const runtimes = await deps.store.db.read((tx) => {
        if (listOpenDeployments(tx, project.id).some(({ status }) => status === 'building'))
          throw new Problem(
            'build_in_progress',
            'A build of this project is running and uses the cache. Wait until it has finished, or cancel it, then clear the cache again.',
          )
        return new Set(listDeploymentsOfProject(tx, project.id).map(({ runtime }) => runtime))
      })
      for (const name of runtimes) {
        const runtime = deps.runtimes[name]
        const { available, reason } = await runtime.probe()
        if (!available) throw new Problem('runtime_unavailable', `The cache cannot be cleared now. ${reason}`)
        await runtime.clearBuildCache(project.id)
      }
    },
  }
}
