import { limits } from '../contract/limits.ts'
import { isoTime } from '../lib/clock.ts'
import { findProject, updateProject } from '../store/projects.ts'
import { insertScalingDecision } from '../store/autoscaling.ts'
import type { DeploymentContext } from './context.ts'
import { type AutoscalerState, decideScaling, fitToMemory, initialState, type ScalingChange } from './decide-scaling.ts'
import type { SupervisedApp } from './supervised-app.ts'

const { sample_interval_ms } = limits.autoscaling

/**
 * Samples the open requests of apps with autoscaling once a second, and stores each new number of replicas as that of the project, with its reason. The
 * change of the project then starts or drains replicas. An app that sleeps, starts or is replaced keeps its number.
 */
export function createAutoscaler(context: DeploymentContext, listApps: () => Iterable<SupervisedApp>): { close(): void } {
  let states = new Map<SupervisedApp, AutoscalerState>()
  const deciding = new Set<string>()
  /** Apps that lack memory, each with the number of replicas at which this was recorded. */
  const limited = new WeakMap<SupervisedApp, number>()

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
      void apply(app, change)
        .catch((error: unknown) => context.log.error('autoscaling_failed', { deployment: spec.deployment_id, error }))
        .finally(() => deciding.delete(spec.project_id))
    }
    return next
  }

  /** The load starts as many replicas as memory allows. That it allows none is recorded once. A minimum applies like a fixed number. */
  const apply = async (app: SupervisedApp, change: ScalingChange): Promise<void> => {
    const from = app.spec.replicas
    const fitting = change.reason === 'load_above_target' ? fitToMemory(change, from, await readMemory(app)) : change
    if (fitting.to !== from) limited.delete(app)
    else if (limited.get(app) === from) return
    else limited.set(app, from)
    await store(app, fitting)
  }

  /** Another replica may need twice what the first one uses, and never more than its limit. */
  const readMemory = async ({ spec, candidate }: SupervisedApp): Promise<{ available_mb: number; replica_mb: number }> => {
    const runtime = context.runtime(spec.runtime)
    const id = candidate?.replica?.id
    const [available_mb, usage] = await Promise.all([
      context.readAvailableMemory(spec.runtime).catch(() => null),
      id === undefined ? null : runtime.usage(id, { isPassive: true }).catch(() => null),
    ])
    return { available_mb: available_mb ?? Infinity, replica_mb: Math.min(spec.memory_mb, 2 * (usage?.memory_mb ?? spec.memory_mb)) }
  }

  const store = ({ spec }: SupervisedApp, change: ScalingChange): Promise<void> =>
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
