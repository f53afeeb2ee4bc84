import { metricsCounters } from '../contract/metrics-ranges.ts'
import type { DeploymentStatus } from '../contract/deployments.ts'
import type { MetricsBucket } from '../edge/metrics.ts'
import type { EventBus } from '../lib/event-bus.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'
import { findDeploymentById } from '../store/deployments.ts'
import { findProject } from '../store/projects.ts'
import type { Db } from '../store/store.ts'
import type { DomainEvent } from '../contract/domain-events.ts'

/** What a project has counted since the platform started. Counters never decrease while the project exists. */
export interface ProjectTotals extends Record<(typeof metricsCounters)[number], number> {
  latencies: Histogram
  deployments: Partial<Record<DeploymentStatus, number>>
  /** Milliseconds. */
  builds: Histogram
}

export interface MetricTotals {
  addRequests(readings: readonly MetricsBucket[]): void
  /** By project, in the order of their first count. */
  list(): ReadonlyMap<string, ProjectTotals>
  close(): void
}

const finalStatuses: readonly DeploymentStatus[] = ['ready', 'failed', 'canceled']

export function createMetricTotals({ db, events }: { db: Db; events: EventBus<DomainEvent> }): MetricTotals {
  const projects = new Map<string, ProjectTotals>()
  /** Deployments that have not ended, so that each is counted once. */
  const open = new Set<string>()

  const totalsOf = (projectId: string): ProjectTotals => {
    const existing = projects.get(projectId)
    if (existing) return existing
    const totals = createProjectTotals()
    projects.set(projectId, totals)
    return totals
  }

  const countDeployment = (id: string): void => {
    const row = db.readSync((tx) => findDeploymentById(tx, id))
    if (!row) return void open.delete(id)
    if (!finalStatuses.includes(row.status)) return void open.add(id)
    if (!open.delete(id)) return
    const totals = totalsOf(row.project_id)
    totals.deployments[row.status] = (totals.deployments[row.status] ?? 0) + 1
    if (row.build_ms !== null) totals.builds.add(row.build_ms)
  }

  const unsubscribe = events.subscribe((event) => {
    if (event.type === 'deployment_changed') countDeployment(event.id)
    else if (event.type === 'project_changed' && projects.has(event.id) && !db.readSync((tx) => findProject(tx, event.id))) projects.delete(event.id)
  })

  return {
    addRequests(readings) {
      for (const reading of readings) {
        const totals = totalsOf(reading.project_id)
        for (const name of metricsCounters) totals[name] += reading[name]
        totals.latencies.merge(reading.latencies)
      }
    },
    list: () => projects,
    close: unsubscribe,
  }
}

export function createProjectTotals(): ProjectTotals {
  const counts = Object.fromEntries(metricsCounters.map((name) => [name, 0])) as Record<(typeof metricsCounters)[number], number>
  return { ...counts, latencies: createHistogram(), deployments: {}, builds: createHistogram() }
}

export function mergeProjectTotals(into: ProjectTotals, part: ProjectTotals): void {
  for (const name of metricsCounters) into[name] += part[name]
  into.latencies.merge(part.latencies)
  into.builds.merge(part.builds)
  for (const status of finalStatuses)
    if (part.deployments[status]) into.deployments[status] = (into.deployments[status] ?? 0) + part.deployments[status]
}
