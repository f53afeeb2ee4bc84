import { z } from 'zod'
import { operation } from './operation.ts'
import { dateTime, empty, projectParams } from './shared.ts'

export const metricsRange = z.enum(['24h', '7d', '30d'])
export type MetricsRange = z.output<typeof metricsRange>

/** Buckets of each range: how many, and seconds each. */
export const metricsBuckets = {
  '24h': { count: 96, seconds: 15 * 60 },
  '7d': { count: 168, seconds: 3600 },
  '30d': { count: 120, seconds: 6 * 3600 },
} as const satisfies Record<MetricsRange, { count: number; seconds: number }>

/** Enough for every list that a person looks at. */
export const sparklineLimits = { hours: 24, projects: 200 } as const

/** What is simply added up when buckets are. */
export const metricsCounters = [
  'requests',
  'status_2xx',
  'status_3xx',
  'status_4xx',
  'status_5xx',
  'bytes_out',
  'cold_starts',
  'cache_hits',
  'cache_misses',
  'cache_bypass',
] as const

const latency = z.number().nullable().describe('Null when there was no request; within 2 % (our reading).')

const metricsBucket = z.object({
  ts: dateTime.describe('Its beginning.'),
  requests: z.number(),
  status_2xx: z.number(),
  status_3xx: z.number(),
  status_4xx: z.number(),
  status_5xx: z.number(),
  bytes_out: z.number().describe('Bytes of bodies.'),
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
  buckets: z.array(metricsBucket).describe('Every bucket of the range, oldest first, empty ones too.'),
  totals: z.object({
    requests: z.number(),
    errors: z.number().describe('Answers with a status of 500 or more (our reading).'),
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
    objects: z.number().describe('Stored now.'),
    bytes: z.number(),
  }),
  resources: z
    .object({ cpu_percent: z.number().describe('Of one core.'), memory_mb: z.number(), memory_limit_mb: z.number() })
    .nullable()
    .describe('Null when nothing runs: static, cold, stopped.'),
})
export type Metrics = z.output<typeof metrics>

export const metricsOperations = {
  getMetrics: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/metrics',
    group: 'Deployments',
    summary: 'Requests, latency, cold starts and cache of a project',
    description: 'All names of the project count, those of its previews too (our reading); `resources` are those of production.',
    access: 'caller',
    params: projectParams,
    query: z.object({ range: metricsRange.optional().meta({ default: '24h' }) }),
    success: { status: 200, json: metrics },
    errors: ['invalid_input', 'project_not_found'],
  }),
}

/** What the dashboard's list of projects draws; not of the customer's document. */
export const sparklineOperations = {
  listSparklines: operation({
    method: 'GET',
    path: '/instance/sparklines',
    group: 'Instance',
    summary: 'Requests of the last 24 hours, for the projects that had any',
    description: `The ${sparklineLimits.projects} that were asked for something last. The last hour is not over yet.`,
    access: 'caller',
    params: empty,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        from: dateTime.describe('Where the first hour begins.'),
        projects: z.array(
          z.object({ slug: z.string(), requests: z.array(z.number()).length(sparklineLimits.hours).describe('By hour, oldest first.') }),
        ),
      }),
    },
    errors: [],
  }),
}
