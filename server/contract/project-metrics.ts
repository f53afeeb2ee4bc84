import { z } from 'zod'
import { deployment } from './deployments.ts'
import { limits } from './limits.ts'
import { metrics } from './metrics.ts'
import { historyBuckets, type HistoryRange } from './metrics-ranges.ts'
import { operation } from './operation.ts'
import { dateTime, projectParams } from './shared.ts'

export const historyRange = z.enum(Object.keys(historyBuckets) as [HistoryRange, ...HistoryRange[]])
const rangeQuery = historyRange.optional().describe('Absent: the shortest range that has all data of the project.')

const usageSeries = z.object({
  cpu_percent: z.array(z.number().nullable()).describe('Average percent of one core in each bucket; null while nothing ran.'),
  memory_mb: z.array(z.number().nullable()).describe('The highest sample in each bucket.'),
})
const usageHistory = usageSeries.extend({
  service: z.string().nullable().describe('Null: the app itself, or its main service.'),
  replicas: z
    .array(usageSeries.extend({ replica: z.number().int().describe('From 1.') }))
    .describe('Each replica while several ran; empty if that was never so.'),
})
export type UsageSeries = z.output<typeof usageSeries>
export type UsageHistory = z.output<typeof usageHistory>

const deploymentMarker = deployment.pick({ id: true, trigger: true, branch: true, commit_sha: true }).extend({
  title: z.string().describe('The first line of the commit message, or what was deployed.'),
  ts: dateTime.describe('When it went live.'),
})
export type DeploymentMarker = z.output<typeof deploymentMarker>

const metricsHistory = metrics.extend({
  range: historyRange,
  first_at: dateTime.nullable().describe('When the data of the project begins.'),
  usage: z.array(usageHistory).describe('CPU and memory of production, sampled every 10 s while it runs, in the same buckets.'),
  deployments: z.array(deploymentMarker).describe(`The last ${limits.metrics.deployments} deployments to production within the range, oldest first.`),
})
export type MetricsHistory = z.output<typeof metricsHistory>

const latency = z.number().describe('Milliseconds.')
const routeFigures = z.object({
  requests: z.number().int(),
  errors: z.number().int().describe('Responses with status 500 or higher.'),
  error_rate: z.number(),
  p50_ms: latency,
  p95_ms: latency,
  p99_ms: latency,
  bytes: z.number().int().describe('Bytes of response bodies.'),
})
const routeMetrics = routeFigures.extend({
  method: z.string(),
  route: z.string().describe('The path with placeholders, such as `/users/:id`. Filters the request log by `route`.'),
})
export type RouteMetrics = z.output<typeof routeMetrics>

export const routeSort = z.enum(['slowest', 'requests', 'errors'])
export type RouteSort = z.output<typeof routeSort>

/** Not among the 45 operations: finer ranges, and what the dashboard shows next to requests. */
export const projectMetricsOperations = {
  getProjectMetrics: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/metrics',
    resource: 'project',
    group: 'Instance',
    summary: 'Get requests, latency, cold starts, CPU, memory and deployments of a project over time',
    description:
      'While the data of a project is younger than the range, the response starts at the first data, in the buckets of the shortest range that has all data. `live` is the last 15 minutes.',
    access: 'caller',
    params: projectParams,
    query: z.object({ range: rangeQuery }),
    success: { status: 200, json: metricsHistory },
    errors: ['invalid_input', 'project_not_found'],
  }),
  listRoutes: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/routes',
    resource: 'project',
    group: 'Instance',
    summary: 'List the routes of a project with their requests, errors and response times',
    description: `Computed from the request log. Numbers, IDs, dates and other variable parts of a path are placeholders. The first ${limits.metrics.routes} routes in the order of \`sort\` (\`slowest\`: by p95).`,
    access: 'caller',
    params: projectParams,
    query: z.object({ range: rangeQuery, sort: routeSort.optional().meta({ default: 'slowest' }) }),
    success: {
      status: 200,
      json: z.object({
        range: historyRange,
        from: dateTime.describe('Start of the range, or of the request log if that begins later.'),
        routes: z.array(routeMetrics),
        other: routeFigures
          .extend({ routes: z.number().int().describe('At least this many.') })
          .nullable()
          .describe('All other routes together; null without any.'),
        skipped: z.number().int().describe('Requests that are not in the request log, because there were too many in a second.'),
        is_recording: z.boolean().describe('Whether the request log of this instance is on.'),
      }),
    },
    errors: ['invalid_input', 'project_not_found'],
  }),
}
