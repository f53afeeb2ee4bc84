/** Proof 4 of the issue: an Express app with PostgreSQL and the real OpenTelemetry SDK, offline. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import type { TraceLogLine, TraceSpan, TraceSpanDetails, TraceSummary } from '../../server/contract/traces.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { commandLine } from '../support/command.ts'
import { sendRequest } from '../support/http-request.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'
import { until } from '../support/until.ts'
import { tracedApp } from './traced-app.ts'

interface Trace {
  trace: TraceSummary
  spans: TraceSpan[]
  logs: TraceLogLine[]
}

let platform: SharedPlatform
let repository: Repository
const folder = createTempFolder('traces')
const path = '/instance/projects/traced'

beforeAll(async () => {
  platform = await sharedPlatform()
  repository = makeRepository(tracedApp())
  await platform.createProject({ slug: 'traced', repo_url: repository.url })
  const vars = [
    { key: 'OTEL_BSP_SCHEDULE_DELAY', value: '100' },
    { key: 'SECRET', value: 'hush-hush-hush', is_sensitive: true },
  ]
  expect((await platform.api('POST', '/v1/projects/traced/env-vars', { vars })).status).toBe(201)
  const { body } = await platform.api<{ deployment_id: string | null }>('POST', '/v1/projects/traced/database')
  const id = body.deployment_id ?? (await platform.deploy('traced')).id
  expect(await platform.waitForEnd('traced', id)).toMatchObject({ status: 'ready', error: null })
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
  folder.remove()
})

/** The trace of a request, once its parts have arrived. */
async function traceOf(requestId: string): Promise<Trace> {
  const { body } = await until(
    async () => {
      const answer = await platform.api<{ request: LoggedRequest }>('GET', `/instance/requests/${requestId}`)
      return answer.status === 200 ? answer : undefined
    },
    { what: 'the request' },
  )
  return until(
    async () => {
      const found = await platform.api<Trace>('GET', `${path}/traces/${body.request.trace_id}`)
      const isComplete = found.body.spans?.some(({ kind }) => kind === 'server') && found.body.logs.length >= 2
      return isComplete ? found.body : undefined
    },
    { what: 'the trace with its log lines' },
  )
}

test('the edge, the handler and its SQL are one trace with its log lines', async () => {
  const response = await platform.fetchEdge('traced.localhost', '/orders/7?page=2')
  expect(JSON.parse(response.body)).toMatchObject({ id: 7 })
  const requestId = String(response.headers['x-request-id'])
  const { trace, spans, logs } = await traceOf(requestId)

  const [edge] = spans
  const server = spans.find(({ kind }) => kind === 'server')
  const sql = spans.find(({ summary }) => summary?.includes('SELECT $1::int AS id'))
  expect(edge).toMatchObject({ kind: 'edge', parent_id: null, request_id: requestId, name: 'GET /orders/7', is_error: false })
  expect(edge?.phases.map(({ name }) => name)).toContain('app')
  expect(server).toMatchObject({ parent_id: edge?.span_id, service: 'traced', name: 'GET /orders/:id' })
  expect(sql).toMatchObject({ kind: 'client', service: 'traced' })
  const parents = new Map(spans.map(({ span_id, parent_id }) => [span_id, parent_id]))
  const rootsOf = (id: string | null | undefined): string | null => (id && parents.get(id) ? rootsOf(parents.get(id)) : (id ?? null))
  expect(new Set(spans.map(({ span_id }) => rootsOf(span_id)))).toEqual(new Set([edge?.span_id]))
  expect(trace).toMatchObject({ name: 'GET /orders/:id', route: '/orders/:id', method: 'GET', status: 200, errors: 0, branch: null })
  expect(trace.duration_ms).toBeGreaterThan(0)

  expect(logs.map(({ line, stream, service }) => ({ line, stream, service }))).toEqual([
    { line: expect.stringContaining('"msg":"loading order"'), stream: 'stdout', service: null },
    { line: `loaded for request ${requestId}`, stream: 'stdout', service: null },
  ])
  expect(parents.has(logs[0]?.span_id ?? '')).toBe(true)

  const details = await platform.api<{ span: TraceSpanDetails }>('GET', `${path}/traces/${trace.trace_id}/spans/${sql?.span_id}`)
  expect(JSON.stringify(details.body.span.attributes)).toContain('SELECT $1::int AS id, current_database() AS db')
  expect(details.body.span.scope).toBe('@opentelemetry/instrumentation-pg')
  const edgeDetails = await platform.api<{ span: TraceSpanDetails }>('GET', `${path}/traces/${trace.trace_id}/spans/${edge?.span_id}`)
  expect(edgeDetails.body.span.attributes).toMatchObject({ 'http.response.status_code': 200 })
})

test('a trace that the client began is continued, and a failure is marked, without the secrets of the project', async () => {
  const trace_id = '0af7651916cd43dd8448eb211c80319c'
  const sent = await sendRequest(`${platform.handle.edge_url}/orders/13`, {
    headers: { host: 'traced.localhost', traceparent: `00-${trace_id}-b7ad6b7169203331-01` },
  })
  expect(sent.status).toBe(500)
  const found = await traceOf(String(sent.headers['x-request-id']))
  expect(found.trace.trace_id).toBe(trace_id)
  expect(found.trace.errors).toBeGreaterThan(0)
  const texts: string[] = []
  for (const { span_id } of found.spans) texts.push(JSON.stringify((await platform.api('GET', `${path}/traces/${trace_id}/spans/${span_id}`)).body))
  expect(texts.join('\n')).toContain('no such order')
  expect(texts.join('\n')).not.toContain('hush-hush-hush')
})

test('traces are listed and filtered', async () => {
  const list = async (query = '') => (await platform.api<{ traces: TraceSummary[]; is_enabled: boolean }>('GET', `${path}/traces${query}`)).body
  const { traces, is_enabled } = await list('?route=/orders')
  expect(is_enabled).toBe(true)
  expect(traces.map(({ route, status }) => [route, status])).toEqual([
    ['/orders/:id', 500],
    ['/orders/:id', 200],
  ])
  expect((await list('?status=5xx')).traces.map(({ status }) => status)).toEqual([500])
  expect((await list('?errors=true')).traces).toHaveLength(1)
})

test('`homeport traces` prints the list, and a trace as a waterfall', async () => {
  const run = commandLine(platform.handle.instance, folder.path)
  const { code, out } = await run('traces', 'traced', '--route', '/orders')
  expect(code).toBe(0)
  expect(out).toMatch(/GET {2}.*\/orders\/:id/)
  const [line = '{}'] = (await run('traces', 'traced', '--status', '200', '--route', '/orders', '--json')).out.trim().split('\n')
  const { trace_id } = JSON.parse(line) as TraceSummary
  const shown = await run('traces', 'traced', trace_id)
  expect(shown.out).toMatch(/GET \/orders\/7/)
  expect(shown.out).toMatch(/SELECT \$1::int AS id/)
  expect(shown.out).toMatch(/loading order/)
  expect(await run('traces', 'traced', 'f'.repeat(32))).toMatchObject({ code: 1 })
})

test('the variables are set by Homeport, the token is masked in the log, and an app with its own exporter gets none', async () => {
  const env = async () => JSON.parse((await platform.fetchEdge('traced.localhost', '/env')).body) as Record<string, string>
  const given = await env()
  expect(given).toMatchObject({
    OTEL_EXPORTER_OTLP_ENDPOINT: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: expect.stringMatching(/^x-homeport-token=prj_\w+\.[\w-]{43}$/),
    OTEL_SERVICE_NAME: 'traced',
    OTEL_RESOURCE_ATTRIBUTES: expect.stringContaining('deployment.environment.name=production'),
  })
  const own = { key: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', value: 'http://127.0.0.1:9/v1/traces' }
  expect((await platform.api('POST', '/v1/projects/traced/env-vars', own)).status).toBe(201)
  await platform.waitForEnd('traced', (await platform.deploy('traced')).id)
  expect(Object.keys(await env()).toSorted()).toEqual(['OTEL_BSP_SCHEDULE_DELAY', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])
})
