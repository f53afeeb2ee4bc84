import { limits } from '../contract/limits.ts'
import type { ProjectRow } from '../store/tables.ts'
import { histogramSamples, type MetricFamily, formatPrometheusText } from '../lib/prometheus-text.ts'
import { findProject } from '../store/projects.ts'
import { canAccessProject } from './access.ts'
import type { Caller } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { createProjectTotals, mergeProjectTotals, type ProjectTotals } from './metric-totals.ts'
import { listProcessMetrics } from './process-metrics.ts'

/** Seconds. Fixed, so that series of different projects can be added up. */
const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const buildBounds = [1, 5, 10, 30, 60, 120, 300, 600, 1800]
/** All projects above the limit together. No slug begins with an underscore. */
const otherProjects = '_other'

interface NamedTotals {
  project: string
  totals: ProjectTotals
  /** Responses in the cache now. */
  cache: { objects: number; bytes: number }
}

/** Writes the figures of the projects that a caller may see, and for the owner those of the platform's process. */
export function createPrometheusExporter(deps: FeatureDeps): (caller: Caller) => Promise<string> {
  return async (caller) => {
    await deps.metrics.flush()
    const totals = deps.metricTotals.list()
    const usage = deps.usage.listTotals()
    const visible = await deps.store.db.read((tx) => {
      const found = new Map<string, ProjectRow>()
      for (const id of new Set([...totals.keys(), ...usage.map(({ project_id }) => project_id)])) {
        const project = findProject(tx, id)
        if (project && canAccessProject(tx, caller, project)) found.set(id, project)
      }
      return found
    })
    const named = nameTotals([...visible.values()], totals, (id) => deps.cache.stats(id))
    const families = [...listRequestMetrics(named), ...listDeploymentMetrics(named)]
    const apps = usage.flatMap(({ project_id, service, ...use }) => {
      const project = visible.get(project_id)
      return project ? [{ labels: { project: project.slug, service: service ?? '' }, ...use }] : []
    })
    families.push(...listUsageMetrics(apps.slice(0, limits.metrics.projects)))
    if (caller.is_instance_owner && caller.project_id === null) families.push(...(await listProcessMetrics(deps)))
    return formatPrometheusText(families)
  }
}

function nameTotals(
  projects: readonly ProjectRow[],
  totals: ReadonlyMap<string, ProjectTotals>,
  readCache: (projectId: string) => NamedTotals['cache'],
): NamedTotals[] {
  const named: NamedTotals[] = []
  const other: NamedTotals = { project: otherProjects, totals: createProjectTotals(), cache: { objects: 0, bytes: 0 } }
  for (const { id, slug } of projects) {
    const own = totals.get(id) ?? createProjectTotals()
    const cache = readCache(id)
    if (named.length < limits.metrics.projects) {
      named.push({ project: slug, totals: own, cache })
      continue
    }
    mergeProjectTotals(other.totals, own)
    other.cache = { objects: other.cache.objects + cache.objects, bytes: other.cache.bytes + cache.bytes }
  }
  return projects.length > named.length ? [...named, other] : named
}

function listRequestMetrics(named: readonly NamedTotals[]): MetricFamily[] {
  const each = (labels: (totals: ProjectTotals) => [Record<string, string>, number][]) =>
    named.flatMap(({ project, totals }) => labels(totals).map(([more, value]) => ({ labels: { project, ...more }, value })))
  return [
    {
      name: 'homeport_requests_total',
      help: 'Requests to host names of a project, by class of the response. WebSockets are `1xx`.',
      type: 'counter',
      samples: each((one) => [
        [{ code_class: '1xx' }, one.requests - one.status_2xx - one.status_3xx - one.status_4xx - one.status_5xx],
        [{ code_class: '2xx' }, one.status_2xx],
        [{ code_class: '3xx' }, one.status_3xx],
        [{ code_class: '4xx' }, one.status_4xx],
        [{ code_class: '5xx' }, one.status_5xx],
      ]),
    },
    {
      name: 'homeport_request_duration_seconds',
      help: 'Time from the head of a request to the start of its response.',
      type: 'histogram',
      samples: named.flatMap(({ project, totals: { latencies } }) => histogramSamples({ project }, durationBounds, inSeconds(latencies))),
    },
    {
      name: 'homeport_response_bytes_total',
      help: 'Bytes of response bodies.',
      type: 'counter',
      samples: each((one) => [[{}, one.bytes_out]]),
    },
    {
      name: 'homeport_cache_requests_total',
      help: 'Requests by result of the edge cache.',
      type: 'counter',
      samples: each((one) => [
        [{ result: 'hit' }, one.cache_hits],
        [{ result: 'miss' }, one.cache_misses],
        [{ result: 'bypass' }, one.cache_bypass],
      ]),
    },
    {
      name: 'homeport_cache_objects',
      help: 'Responses in the edge cache.',
      type: 'gauge',
      samples: named.map(({ project, cache }) => ({ labels: { project }, value: cache.objects })),
    },
    {
      name: 'homeport_cache_bytes',
      help: 'Size of the responses in the edge cache.',
      type: 'gauge',
      samples: named.map(({ project, cache }) => ({ labels: { project }, value: cache.bytes })),
    },
    {
      name: 'homeport_cold_starts_total',
      help: 'Starts of an app that a request had to wait for.',
      type: 'counter',
      samples: each((one) => [[{}, one.cold_starts]]),
    },
  ]
}

function listDeploymentMetrics(named: readonly NamedTotals[]): MetricFamily[] {
  return [
    {
      name: 'homeport_deployments_total',
      help: 'Deployments that ended, by status.',
      type: 'counter',
      samples: named.flatMap(({ project, totals }) =>
        Object.entries(totals.deployments).map(([status, value]) => ({ labels: { project, status }, value })),
      ),
    },
    {
      name: 'homeport_build_duration_seconds',
      help: 'Duration of builds.',
      type: 'histogram',
      samples: named.flatMap(({ project, totals: { builds } }) =>
        builds.count === 0 ? [] : histogramSamples({ project }, buildBounds, inSeconds(builds)),
      ),
    },
  ]
}

function listUsageMetrics(
  apps: readonly { labels: { project: string; service: string }; cpu_seconds: number; memory_mb: number | null }[],
): MetricFamily[] {
  return [
    {
      name: 'homeport_app_cpu_seconds_total',
      help: 'CPU time of an app in production, or of one of its services. The main one has no name.',
      type: 'counter',
      samples: apps.map(({ labels, cpu_seconds }) => ({ labels, value: cpu_seconds })),
    },
    {
      name: 'homeport_app_memory_bytes',
      help: 'Memory of an app in production, or of one of its services, while it runs.',
      type: 'gauge',
      samples: apps.flatMap(({ labels, memory_mb }) => (memory_mb === null ? [] : [{ labels, value: memory_mb * 2 ** 20 }])),
    },
  ]
}

const inSeconds = (milliseconds: ProjectTotals['latencies']) => ({
  countUpTo: (bound: number) => milliseconds.countUpTo(bound * 1000),
  sum: milliseconds.sum() / 1000,
  count: milliseconds.count,
})
