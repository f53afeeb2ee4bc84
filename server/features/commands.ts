import type { commandOperations } from '../contract/commands.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { toEnvironment } from './services.ts'

export function createCommandHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof commandOperations> {
  return {
    async createCommand({ caller, project }, { body: { command, service, branch, terminal } }) {
      await deps.store.db.read((tx) => deps.deployments.requireIsolation(tx, project))
      const environment = toEnvironment(project, branch)
      const found = deps.deployments.commands.find(environment, service)
      const issued = deps.commandTickets.issue(caller, project, { command, service, branch: environment.branch, terminal })
      return { command: { ...issued, ...found } }
    },
  }
}
