import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { DeploymentMarker, projectMetricsOperations, UsageHistory, UsageSeries } from '../contract/project-metrics.ts'
import { nameSource } from '../contract/labels.ts'
import { limits } from '../contract/limits.ts'
import { isoTime } from '../lib/clock.ts'
import { listLiveDeployments } from '../store/deployments.ts'
import type { UsageRow } from '../store/log-tables.ts'
import type { DeploymentRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { chooseHistoryWindow } from './history-window.ts'
import { type BucketWindow, summarizeMetrics } from './metrics.ts'
import { createRouteSummary } from './route-summary.ts'

/** Requests that are summed up at once, which takes some milliseconds. */
const rowsPerStep = 1_000

export function createProjectMetricsHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof projectMetricsOperations> {
  const firstOf = (projectId: string): number | undefined => {
    const first = Math.min(deps.metrics.readFirst(projectId) ?? Infinity, deps.store.usage.readFirst(projectId) ?? Infinity)
    return first === Infinity ? undefined : first
  }

  return {
    async getProjectMetrics({ project }, { query }) {
      const first = firstOf(project.id)
      const { range, window } = chooseHistoryWindow(query.range, first, deps.clock.now() / 1000)
      const resources = await deps.deployments.getUsage(project.id)
      const summary = summarizeMetrics(window, deps.metrics.readSince(project.id, window.from), deps.cache.stats(project.id))
      const deployments = await deps.store.db.read((tx) => listLiveDeployments(tx, project.id, summary.from, summary.to, limits.metrics.deployments))
      return {
        range,
        ...summary,
        resources,
        first_at: first === undefined ? null : isoTime(first * 1000),
        usage: presentUsage(window, deps.store.usage.readSince(project.id, window.from)),
        deployments: deployments.reverse().map(presentMarker),
      }
    },

    async listRoutes({ project, signal }, { query: { range: requested, sort = 'slowest' } }) {
      const { range, window } = chooseHistoryWindow(requested, firstOf(project.id), deps.clock.now() / 1000)
      await deps.requests.flush()
      const { requests: store } = deps.store
      const bounds = store.readRange(project.id, window.from * 1000)
      const summary = createRouteSummary()
      let oldest_ms: number | undefined
      for (let at = bounds.from; at < bounds.to && !signal.aborted; at += rowsPerStep) {
        const rows = store.listForRoutes(project.id, { from: at, to: Math.min(bounds.to, at + rowsPerStep) })
        oldest_ms ??= rows[0]?.time
        for (const row of rows) summary.add(row)
        await yieldToEventLoop()
      }
      return {
        range,
        from: isoTime(Math.max(window.from * 1000, oldest_ms ?? 0)),
        ...summary.result(sort),
        is_recording: deps.requests.isEnabled(),
      }
    },
  }
}

/** One series per service, the app itself first, and one for each of its replicas, if it had several. */
function presentUsage(window: BucketWindow, rows: readonly UsageRow[]): UsageHistory[] {
  const services = Map.groupBy(rows, ({ service }) => service)
  return [...services]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([service, all]) => {
      const replicas = Map.groupBy(all, ({ replica }) => replica)
      return {
        service: service || null,
        ...presentSeries(window, replicas.get(0) ?? []),
        replicas: [...replicas]
          .filter(([replica]) => replica > 0)
          .toSorted(([a], [b]) => a - b)
          .map(([replica, own]) => ({ replica, ...presentSeries(window, own) })),
      }
    })
}

function presentSeries({ from, count, seconds }: BucketWindow, rows: readonly UsageRow[]): UsageSeries {
  const buckets: { samples: number; cpu_sum: number; memory_max: number }[] = []
  for (const { ts, samples, cpu_sum, memory_max } of rows) {
    const index = Math.floor((ts - from) / seconds)
    if (index >= count) continue
    const bucket = (buckets[index] ??= { samples: 0, cpu_sum: 0, memory_max: 0 })
    bucket.samples += samples
    bucket.cpu_sum += cpu_sum
    bucket.memory_max = Math.max(bucket.memory_max, memory_max)
  }
  const series = Array.from({ length: count }, (_, i) => buckets[i])
  return {
    cpu_percent: series.map((bucket) => (bucket ? Number((bucket.cpu_sum / bucket.samples).toFixed(1)) : null)),
    memory_mb: series.map((bucket) => bucket?.memory_max ?? null),
  }
}

function presentMarker(row: DeploymentRow): DeploymentMarker {
  const { id, trigger, branch, commit_sha, commit_message, finished_at, created_at } = row
  const title = commit_message?.trim().split('\n', 1)[0] || nameSource(row)
  return { id, trigger, branch, commit_sha, title, ts: finished_at ?? created_at }
}
