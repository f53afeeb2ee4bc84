import { limits } from '../contract/limits.ts'
import { isoTime } from '../lib/clock.ts'
import { findProject, updateProject } from '../store/projects.ts'
import { insertScalingDecision } from '../store/autoscaling.ts'
import type { DeploymentContext } from './context.ts'
import { type AutoscalerState, decideScaling, initialState } from './decide-scaling.ts'
import type { SupervisedApp } from './supervised-app.ts'

const { sample_interval_ms } = limits.autoscaling

/**
 * Samples the open requests of apps with autoscaling once a second, and stores each new number of replicas as that of the project, with its reason. The
 * change of the project then starts or drains replicas. An app that sleeps, starts or is replaced keeps its number.
 */
export function createAutoscaler(context: DeploymentContext, listApps: () => Iterable<SupervisedApp>): { close(): void } {
  let states = new Map<SupervisedApp, AutoscalerState>()
  const deciding = new Set<string>()

  /** The app is awake and serves all traffic of its project, and its number can change. */
  const canScale = ({ spec, candidate, isSuperseded, replacement, sleep, stopController }: SupervisedApp): boolean =>
    Boolean(candidate?.replica) &&
    !(candidate?.replica?.is_on_host && spec.listen_port !== null) &&
    !isSuperseded &&
    !replacement &&
    !sleep &&
    !stopController.signal.aborted

  const sample = (app: SupervisedApp): AutoscalerState | undefined => {
    const { spec } = app
    if (spec.autoscaling === null || !canScale(app)) return undefined
    const state = states.get(app) ?? initialState
    const load = context.edge.listReplicaLoad(context.routes.getHost(spec))
    if (load.length === 0 || deciding.has(spec.project_id)) return state
    const in_flight = load.reduce((sum, one) => sum + one.in_flight, 0)
    const { state: next, change } = decideScaling(state, { time_ms: context.clock.monotonic(), in_flight, replicas: spec.replicas }, spec.autoscaling)
    if (change) {
      deciding.add(spec.project_id)
      void store(app, change)
        .catch((error: unknown) => context.log.error('autoscaling_failed', { deployment: spec.deployment_id, error }))
        .finally(() => deciding.delete(spec.project_id))
    }
    return next
  }

  const store = ({ spec }: SupervisedApp, change: NonNullable<ReturnType<typeof decideScaling>['change']>): Promise<void> =>
    context.store.db.write((tx) => {
      const { project_id, autoscaling, replicas: from } = spec
      if (!findProject(tx, project_id) || autoscaling === null) return
      const { target_concurrency } = autoscaling
      updateProject(tx, project_id, { replicas: change.to })
      insertScalingDecision(tx, { project_id, time: isoTime(context.clock.now()), from, ...change, target_concurrency })
      tx.publish({ type: 'project_changed', id: project_id })
    })

  const tick = (): void => {
    timer = context.clock.setTimeout(tick, sample_interval_ms).unref()
    const next: typeof states = new Map()
    for (const app of listApps()) {
      const state = sample(app)
      if (state) next.set(app, state)
    }
    states = next
  }
  let timer = context.clock.setTimeout(tick, sample_interval_ms).unref()

  return { close: () => timer.cancel() }
}
