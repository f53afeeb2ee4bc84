import { metricsCounters } from '../../server/contract/metrics-ranges.ts'
import { createHistogram } from '../../server/lib/histogram.ts'
import type { MetricsReading } from '../../server/store/metrics-store.ts'

/** What was counted of a project at a time (s), with one request for each duration (ms). */
export function metricsReading(project_id: string, ts: number, durations: number[], more: Partial<MetricsReading> = {}): MetricsReading {
  const latencies = createHistogram()
  for (const ms of durations) latencies.add(ms)
  const none = Object.fromEntries(metricsCounters.map((name) => [name, 0])) as Record<(typeof metricsCounters)[number], number>
  return { ...none, project_id, ts, requests: durations.length, latencies, cold_latencies: null, last_cold_start_at: null, ...more }
}
