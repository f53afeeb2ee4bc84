import type { Autoscaling, ScalingReason } from '../contract/autoscaling.ts'
import { limits } from '../contract/limits.ts'

/** What earlier samples of the load of an app left. Times are those of the monotonic clock. */
export interface AutoscalerState {
  samples: readonly { time_ms: number; in_flight: number }[]
  recommendations: readonly Recommendation[]
}

interface Recommendation {
  time_ms: number
  replicas: number
  concurrency: number
}

export interface ScalingChange {
  to: number
  reason: ScalingReason
  concurrency: number
  recommended: number
}

const isHigher = (one: Recommendation, other: Recommendation): boolean =>
  one.replicas === other.replicas ? one.concurrency > other.concurrency : one.replicas > other.replicas

export const initialState: AutoscalerState = { samples: [], recommendations: [] }

const { tolerance, averaging_window_ms, stabilization_window_ms } = limits.autoscaling

/**
 * The number of replicas for the average of the open requests within the averaging window, as in Kubernetes (HorizontalPodAutoscaler) and Knative. A load
 * within the tolerance of the target changes nothing. More replicas run at once. Fewer run when no recommendation within the stabilization window was
 * higher; the present number counts as the first recommendation, so that a version which has just started keeps its replicas.
 */
export function decideScaling(
  state: AutoscalerState,
  { time_ms, in_flight, replicas }: { time_ms: number; in_flight: number; replicas: number },
  { min, max, target_concurrency }: Autoscaling,
): { state: AutoscalerState; change: ScalingChange | null } {
  const samples = [...state.samples.filter((one) => time_ms - one.time_ms < averaging_window_ms), { time_ms, in_flight }]
  const average = samples.reduce((sum, one) => sum + one.in_flight, 0) / samples.length
  const concurrency = Math.round(average * 10) / 10
  const target = replicas * target_concurrency
  const recommended = Math.abs(average - target) <= tolerance * target ? replicas : Math.max(1, Math.ceil(average / target_concurrency))
  const recommendations: readonly Recommendation[] = [
    ...(state.recommendations.length === 0
      ? [{ time_ms, replicas, concurrency }]
      : state.recommendations.filter((one) => time_ms - one.time_ms < stabilization_window_ms)),
    { time_ms, replicas: recommended, concurrency },
  ]
  const next = { samples, recommendations }
  const clamp = (count: number) => Math.min(max, Math.max(min, count))
  if (recommended >= replicas) {
    const to = clamp(recommended)
    if (to === replicas) return { state: next, change: null }
    const reason = to < replicas ? 'maximum' : recommended < to ? 'minimum' : 'load_above_target'
    return { state: next, change: { to, reason, concurrency, recommended } }
  }
  const highest = recommendations.reduce((high, one) => (isHigher(one, high) ? one : high))
  const to = clamp(Math.min(replicas, highest.replicas))
  if (to === replicas) return { state: next, change: null }
  const reason = to > replicas ? 'minimum' : highest.replicas >= replicas ? 'maximum' : 'load_below_target'
  return { state: next, change: { to, reason, concurrency: highest.concurrency, recommended: highest.replicas } }
}

/** A change as far as memory allows. `replica_mb`: what another replica may need. */
export function fitToMemory(
  change: ScalingChange,
  from: number,
  { available_mb, replica_mb }: { available_mb: number; replica_mb: number },
): ScalingChange {
  const fitting = from + Math.max(0, Math.floor(available_mb / replica_mb))
  return change.to <= Math.max(from, fitting)
    ? change
    : { ...change, to: Math.max(from, fitting), reason: 'memory', recommended: Math.max(change.recommended, change.to) }
}
