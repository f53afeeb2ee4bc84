import { z } from 'zod'
import { operation } from './operation.ts'
import { dateTime, empty, projectParams } from './shared.ts'

export const metricsRange = z.enum(['24h', '7d', '30d'])
export type MetricsRange = z.output<typeof metricsRange>

export const sparklineLimits = { hours: 24, projects: 200 } as const

const latency = z.number().nullable().describe('Null without requests; accurate to 2 % (our reading).')

const metricsBucket = z.object({
  ts: dateTime.describe('Start of the bucket.'),
  requests: z.number(),
  status_2xx: z.number(),
  status_3xx: z.number(),
  status_4xx: z.number(),
  status_5xx: z.number(),
  bytes_out: z.number().describe('Bytes of response bodies.'),
  p50_ms: latency,
  p95_ms: latency,
  p99_ms: latency,
  cold_starts: z.number(),
  cache_hits: z.number(),
  cache_misses: z.number(),
  cache_bypass: z.number(),
})

export const metrics = z.object({
  range: metricsRange,
  bucket_seconds: z.number(),
  from: dateTime,
  to: dateTime,
  buckets: z.array(metricsBucket).describe('All buckets of the range, oldest first, including empty ones.'),
  totals: z.object({
    requests: z.number(),
    errors: z.number().describe('Responses with status 500 or higher (our reading).'),
    error_rate: z.number().describe('errors / requests; 0 without requests.'),
    bytes_out: z.number(),
    p50_ms: latency,
    p95_ms: latency,
    p99_ms: latency,
  }),
  cold_starts: z.object({ count: z.number(), p50_ms: latency, p95_ms: latency, last_at: dateTime.nullable() }),
  cache: z.object({
    hits: z.number(),
    misses: z.number(),
    bypass: z.number(),
    hit_ratio: z.number().nullable().describe('hits / (hits + misses); null without either (our reading).'),
    objects: z.number().describe('Cached responses now.'),
    bytes: z.number(),
  }),
  resources: z
    .object({ cpu_percent: z.number().describe('Percent of one core.'), memory_mb: z.number(), memory_limit_mb: z.number() })
    .nullable()
    .describe('Null if no process runs (static site, sleeping or stopped app).'),
})
export type Metrics = z.output<typeof metrics>

export const metricsOperations = {
  getMetrics: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/metrics',
    resource: 'project',
    group: 'Deployments',
    summary: 'Get requests, latency, cold starts and cache usage of a project',
    description: 'Counts requests to all hostnames of the project, including previews (our reading). `resources` are those of production.',
    access: 'caller',
    params: projectParams,
    query: z.object({ range: metricsRange.optional().meta({ default: '24h' }) }),
    success: { status: 200, json: metrics },
    errors: ['invalid_input', 'project_not_found'],
  }),
}

/** For the project list of the dashboard; not one of the 45 operations. */
export const sparklineOperations = {
  listSparklines: operation({
    method: 'GET',
    path: '/instance/sparklines',
    group: 'Instance',
    summary: 'Get hourly requests of the last 24 hours for active projects',
    description: `The ${sparklineLimits.projects} projects with the most recent requests. The last hour is incomplete.`,
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        from: dateTime.describe('Start of the first hour.'),
        projects: z.array(
          z.object({ slug: z.string(), requests: z.array(z.number()).length(sparklineLimits.hours).describe('Requests per hour, oldest first.') }),
        ),
      }),
    },
    errors: [],
  }),
}
