import { limits } from '../contract/limits.ts'
import type { createAppRoutes } from './app-routes.ts'
import type { DeploymentContext } from './context.ts'
import { isBeyond } from './replica-specs.ts'
import type { OutputListener } from './runtime-logs.ts'
import type { ServiceSupervisor } from './service-supervisor.ts'
import type { Candidate, SupervisedApp } from './supervised-app.ts'

/** Where a deployment starts its replicas, and what its log says. */
interface Start {
  signal: AbortSignal
  onNote: (line: string) => void
  onOutput: OutputListener | undefined
}

/**
 * Replaces the replicas of a live version one by one when the memory that is available does not hold both sets: one more runs than before (a surge of one),
 * and none less. New replicas get traffic in the route of the live version, whose first replica stays until the new version is promoted.
 */
export function createRollingReplacement(
  context: DeploymentContext,
  services: ServiceSupervisor,
  { createRoute, listMain, updateRoute }: ReturnType<typeof createAppRoutes>,
) {
  /** Why the live version is replaced in steps, as a sentence; undefined if it is not. */
  const findReason = async (live: SupervisedApp | undefined, { spec }: Candidate): Promise<string | undefined> => {
    if (!live?.candidate?.replica || live.sleep || live.isSuperseded || live.spec.runtime !== spec.runtime) return undefined
    if (listMain(live.spec, live.candidate).length < 2) return undefined
    const available_mb = await context.readAvailableMemory(spec.runtime).catch(() => null)
    const needed_mb = (spec.replicas - 1) * spec.memory_mb
    if (available_mb === null || available_mb >= needed_mb) return undefined
    return `The other ${spec.replicas - 1} of ${spec.replicas} replicas may need ${needed_mb} MB next to the live version, and ${Math.round(available_mb)} MB are available.`
  }

  const showReplicas = (live: SupervisedApp): Promise<void> => context.routes.setRoute(live.spec, createRoute(live), limits.drain_ms)

  /** Starts the other replicas of a candidate, whose first one is ready. Throws `StartFailure`; `detach` and `finish` then restore the live version. */
  const replaceInSteps = async (live: SupervisedApp, candidate: Candidate, { signal, onNote, onOutput }: Start): Promise<void> => {
    const { spec } = candidate
    const before = listMain(live.spec, live.candidate).length
    const replacement = { deployment_id: spec.deployment_id, added: listMain(spec, candidate) }
    live.replacement = replacement
    for (let ready = 1; ready < spec.replicas; ready++) {
      const kept = Math.max(1, before - ready)
      let isRouted = false
      await services.removeReplicas(live.spec, isBeyond(kept), () => {
        isRouted = true
        return showReplicas(live)
      })
      if (!isRouted) await showReplicas(live)
      onNote(`${ready} of ${spec.replicas} replicas replaced; ${kept} of the live version ${kept === 1 ? 'runs' : 'run'}.`)
      await services.startReplicas(spec, signal, { onOutput, upTo: ready + 1 })
      replacement.added = listMain(spec, candidate)
    }
  }

  /** Takes the new replicas out of the route of the live version. Resolves once their requests have ended. */
  const detach = async (live: SupervisedApp | undefined, deploymentId: string): Promise<void> => {
    if (live?.replacement?.deployment_id !== deploymentId || live.replacement.added.length === 0) return
    live.replacement.added = []
    if (live.candidate && !live.isSuperseded) await showReplicas(live)
    else updateRoute(live)
  }

  /** Ends the replacement after a failure; the caller starts what is missing of the live version. True if there was one. */
  const finish = (live: SupervisedApp | undefined, deploymentId: string): live is SupervisedApp => {
    if (live?.replacement?.deployment_id !== deploymentId) return false
    live.replacement = null
    return true
  }

  return { findReason, replaceInSteps, detach, finish }
}
