import type { ReplicaLoad, Route } from '../edge.ts'
import type { WorkerReport } from './protocol.ts'

/** What one worker last reported. */
export interface ReportedState {
  /** Open connections: those of the last report, and those passed to it since. */
  connections: number
  /** Since when each host is idle, by the clock of the platform; undefined while it has requests. */
  idle: Map<string, number | undefined>
  loads: Map<string, ReplicaLoad[]>
  cached: Map<string, { objects: number; bytes: number }>
}

export const createReportedState = (): ReportedState => ({ connections: 0, idle: new Map(), loads: new Map(), cached: new Map() })

/** `now`: by the monotonic clock of the platform. */
export function updateReportedState(state: ReportedState, report: WorkerReport, now: number): void {
  for (const [host, idle_ms] of report.idle) state.idle.set(host, idle_ms === null ? undefined : now - idle_ms)
  state.connections = report.connections
  state.loads = new Map(report.loads)
  for (const [projectId, stats] of report.cached) state.cached.set(projectId, stats)
}

/** Carries over when each host was last used at an edge that is gone, or is out of reach and may go on alone. */
export function keepLastUse(usedAt: Map<string, number>, { idle }: ReportedState, now: number): void {
  for (const [host, since = now] of idle) {
    const known = usedAt.get(host)
    if (known !== undefined) usedAt.set(host, Math.max(known, since))
  }
}

/** Since when a host has had no request anywhere; `since`: since when it has its route, or is unused by edges that are gone. */
export function findIdleSince(host: string, states: ReportedState[], since: number): number | undefined {
  let latest = since
  for (const { idle } of states) {
    if (!idle.has(host)) continue
    const own = idle.get(host)
    if (own === undefined) return undefined
    latest = Math.max(latest, own)
  }
  return latest
}

export function sumReplicaLoad(host: string, route: Route | undefined, states: ReportedState[]): ReplicaLoad[] {
  if (route?.kind !== 'upstream') return []
  const reported = states.flatMap(({ loads }) => loads.get(host) ?? [])
  return [route, ...(route.others ?? [])].map(({ host: address, port }) => {
    const own = reported.filter((load) => load.host === address && load.port === port)
    return { host: address, port, in_flight: own.reduce((sum, load) => sum + load.in_flight, 0), is_ejected: own.some((load) => load.is_ejected) }
  })
}
