import type { RuntimeName } from '../contract/runtimes.ts'
import type { ExistingReplica } from '../runtime/runtime.ts'
import { hasDeployment, listDeploymentsOfProject } from '../store/deployments.ts'
import { listForks } from '../store/forks.ts'
import { findProject } from '../store/projects.ts'
import type { Tx } from '../store/store.ts'
import type { DeploymentContext } from './context.ts'
import { getEnvironmentId } from './supervised-app.ts'

type QuarantinedReplica = Pick<ExistingReplica, 'id' | 'project_id' | 'deployment_id' | 'service'> & { runtime: RuntimeName }

/**
 * Running replicas that the database does not know, because it was replaced by an older copy. A start keeps them, without traffic, because they may be
 * what should be live; they end when somebody asks for it.
 */
export interface Quarantine {
  /** Whether a replica that was found at the start is unknown; it is kept then. */
  holds(runtime: RuntimeName, replica: ExistingReplica): Promise<boolean>
  /** Those that still run. */
  list(): Promise<QuarantinedReplica[]>
  /** Ends all of them and removes what belongs to them alone; returns the number of their deployments. */
  stopAll(): Promise<number>
}

const stopGrace_ms = 10_000

export function createQuarantine(context: Pick<DeploymentContext, 'runtime' | 'store' | 'log'>): Quarantine {
  const held = new Map<string, QuarantinedReplica>()

  const list = async (): Promise<QuarantinedReplica[]> => {
    for (const runtime of new Set([...held.values()].map((one) => one.runtime))) {
      const found = await context.runtime(runtime).list()
      const runningIds = new Set(found.filter(({ running, deployment_id }) => running && deployment_id !== '').map(({ id }) => id))
      for (const [id, replica] of held) if (replica.runtime === runtime && !runningIds.has(id)) held.delete(id)
    }
    return [...held.values()]
  }

  return {
    async holds(runtime, replica) {
      const { id, project_id, deployment_id, service, running } = replica
      // What a killed build or start left has no owner.
      if (!running || deployment_id === '' || (await context.store.db.read((tx) => isKnown(tx, replica)))) return false
      held.set(id, { id, project_id, deployment_id, service, runtime })
      context.log.warn('unknown_replica_kept', { runtime, replica: id, project: project_id, deployment: deployment_id })
      return true
    },

    list,

    async stopAll() {
      const replicas = await list()
      for (const { id, runtime } of replicas) {
        await context.runtime(runtime).stop(id, stopGrace_ms)
        held.delete(id)
      }
      const runtimes = new Map(replicas.map(({ runtime, deployment_id }) => [deployment_id, runtime]))
      for (const [deploymentId, runtime] of runtimes) await context.runtime(runtime).discard(deploymentId, null)
      return runtimes.size
    },
  }
}

/** A replica belongs to a deployment, or to the environment of several; a development server uses that of production before there is any. */
function isKnown(tx: Tx, { project_id, deployment_id }: ExistingReplica): boolean {
  if (hasDeployment(tx, deployment_id)) return true
  if (deployment_id === project_id && findProject(tx, project_id)) return true
  const environments = [
    ...listDeploymentsOfProject(tx, project_id),
    ...listForks(tx, project_id).map(({ branch }) => ({ project_id, target: 'preview' as const, branch })),
  ]
  return environments.some((one) => getEnvironmentId(one) === deployment_id)
}
