import { limits } from '../contract/limits.ts'
import type { DeploymentContext } from './context.ts'
import type { createAppRoutes } from './app-routes.ts'
import type { RuntimeLogs } from './runtime-logs.ts'
import type { ServiceSupervisor } from './service-supervisor.ts'
import { waitUntilReady } from './readiness.ts'
import type { AppSpec, Candidate, SupervisedApp } from './supervised-app.ts'

/** The functions of the supervisor that start, route and stop replicas. */
export interface ReplicaMoverHooks {
  listApps(): Iterable<SupervisedApp>
  launch(spec: AppSpec, signal: AbortSignal): Promise<Candidate>
  stopCandidate(candidate: Candidate): Promise<void>
  /** Stops the replica of an app that stays in its slot; its requests wait. */
  haltApp(app: SupervisedApp): Promise<void>
  /** Restarts the app when its current replica exits. */
  watchExit(app: SupervisedApp): void
  appRoutes: ReturnType<typeof createAppRoutes>
  services: ServiceSupervisor
  /** Candidates without a slot that must not outlive the platform. */
  draining: Set<Candidate>
  logs: RuntimeLogs
}

const stopGrace_ms = 10_000

/**
 * Replaces running replicas by new ones of the same version, which the runtime may place on another node. The first replica of an app, which may be its
 * only one, is replaced before it loses its traffic; others lose theirs first, to the rest. Returns how many were replaced. A sleeping app only loses
 * its replica, and starts elsewhere when it is woken.
 */
export function createReplicaMover(context: DeploymentContext, hooks: ReplicaMoverHooks) {
  const { appRoutes, services } = hooks

  const showReplicas = (app: SupervisedApp): Promise<void> => context.routes.setRoute(app.spec, appRoutes.createRoute(app), limits.drain_ms)

  const moveFirst = async (app: SupervisedApp, isAffected: (replicaId: string) => boolean): Promise<number> => {
    await app.restarting?.catch(() => {})
    await app.sleep?.transition
    const { candidate: old } = app
    if (!old?.replica || !isAffected(old.replica.id)) return 0
    if (app.sleep) {
      await hooks.haltApp(app)
      return 1
    }
    const { signal } = app.stopController
    const started = await hooks.launch(app.spec, signal)
    const replacement = await waitUntilReady(context, started, signal, () => {}, {
      launch: (spec) => hooks.launch(spec, signal),
      stopCandidate: hooks.stopCandidate,
    }).catch(async (error: unknown) => {
      await hooks.stopCandidate(started)
      throw error
    })
    // The app was stopped, went to sleep or crashed meanwhile.
    if (signal.aborted || app.candidate !== old || app.sleep) {
      await hooks.stopCandidate(replacement)
      return 0
    }
    app.candidate = replacement
    app.spec = replacement.spec
    hooks.watchExit(app)
    hooks.draining.add(old)
    await showReplicas(app)
    appRoutes.updateServiceRoutes(app)
    await context
      .runtime(app.spec.runtime)
      .stop(old.replica.id, stopGrace_ms)
      .finally(() => hooks.draining.delete(old))
    hooks.logs.recordState(app.spec, 'running')
    return 1
  }

  /** Replicas of the main service beyond the first. */
  const moveOthers = async (app: SupervisedApp, isAffected: (replicaId: string) => boolean): Promise<number> => {
    let moved = 0
    for (const one of services.listReplicas(app.spec, app.spec.main_service)) {
      if (app.sleep || !one.replica || !isAffected(one.replica.id)) continue
      await services.removeReplicas(
        app.spec,
        (other) => other === one,
        () => showReplicas(app),
      )
      await services.reviveReplicas(app.spec, app.stopController.signal)
      const successor = services.listReplicas(app.spec, app.spec.main_service).find(({ spec }) => spec.replica === one.spec.replica)
      // The others keep their nodes, because they are what still serves.
      if (!successor?.replica) throw new Error(`Replica ${one.spec.replica} did not start again.`)
      moved++
    }
    return moved
  }

  const moveServices = async (app: SupervisedApp, isAffected: (replicaId: string) => boolean): Promise<number> => {
    let moved = 0
    for (const { config } of app.spec.services) {
      const affected = services.listReplicas(app.spec, config.name).filter(({ replica }) => replica && isAffected(replica.id))
      if (affected.length === 0 || app.sleep) continue
      await services.restart(app.spec, config.name)
      moved += affected.length
    }
    return moved
  }

  return async (isAffected: (replicaId: string) => boolean): Promise<number> => {
    let moved = 0
    for (const app of hooks.listApps()) {
      for (const move of [moveServices, moveOthers, moveFirst]) {
        if (app.stopController.signal.aborted || app.isSuperseded || app.replacement) continue
        try {
          moved += await move(app, isAffected)
        } catch (error) {
          // What could not be replaced stays, until the engine moves it or the node fails.
          context.log.warn('replica_not_moved', { deployment: app.spec.deployment_id, error })
        }
      }
    }
    return moved
  }
}
