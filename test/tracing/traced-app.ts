import { packModules } from '../support/packed-modules.ts'

/** An Express app with PostgreSQL and the OpenTelemetry SDK as its documentation shows it, with its dependencies included. */
export const tracedApp = (): Record<string, string> => ({
  'package.json': JSON.stringify({ name: 'traced', private: true, scripts: { start: 'node --require ./tracing.js server.js' } }),
  'tracing.js': `
const { NodeSDK } = require('@opentelemetry/sdk-node')
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express')
const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg')
new NodeSDK({ instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation(), new PgInstrumentation()] }).start()
`,
  'server.js': `
const express = require('express')
const { Pool } = require('pg')
const { trace } = require('@opentelemetry/api')
const pool = new Pool({ connectionString: process.env.DATABASE_URL })
const app = express()
app.get('/env', (request, response) => response.json(Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_')))))
app.get('/orders/:id', async (request, response) => {
  const { traceId, spanId } = trace.getActiveSpan().spanContext()
  console.log(JSON.stringify({ msg: 'loading order', trace_id: traceId, span_id: spanId }))
  const { rows } = await pool.query('SELECT $1::int AS id, current_database() AS db', [request.params.id])
  console.log('loaded for request ' + request.get('x-request-id'))
  if (request.params.id === '13') throw new Error('no such order ' + process.env.SECRET)
  response.json(rows[0])
})
app.get('/', (request, response) => response.send('ok'))
app.listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))
`,
  ...packModules([
    '@opentelemetry/api',
    '@opentelemetry/sdk-node',
    '@opentelemetry/instrumentation-http',
    '@opentelemetry/instrumentation-express',
    '@opentelemetry/instrumentation-pg',
    'express',
    'pg',
  ]),
})

/** Sends a span for each request, with the parent that the edge gave it, as an SDK does. */
const handTracedServer = `
const { randomBytes } = require('node:crypto')
const [header, token] = (process.env.OTEL_EXPORTER_OTLP_HEADERS ?? '').split(/=(.*)/s)
const span = (traceId, parentSpanId, spanId, name, kind, more = {}) => {
  const now = BigInt(Date.now()) * 1000000n
  return { traceId, spanId, parentSpanId, name, kind, startTimeUnixNano: String(now), endTimeUnixNano: String(now + 4000000n), ...more }
}
require('node:http').createServer(async (request, response) => {
  const [, traceId, parentId] = (request.headers.traceparent ?? '').split('-')
  if (traceId && request.url.startsWith('/orders')) {
    const id = randomBytes(8).toString('hex')
    const text = (key, stringValue) => ({ key, value: { stringValue } })
    const spans = [
      span(traceId, parentId, id, 'GET /orders/:id', 2, { attributes: [text('http.request.method', 'GET'), text('http.route', '/orders/:id')] }),
      span(traceId, id, randomBytes(8).toString('hex'), 'SELECT shop', 3, {
        attributes: [text('db.query.text', 'SELECT * FROM orders WHERE id = $1')],
        status: { code: 2, message: 'relation "orders" does not exist' },
      }),
    ]
    const body = { resourceSpans: [{ resource: { attributes: [text('service.name', process.env.OTEL_SERVICE_NAME)] }, scopeSpans: [{ scope: { name: 'hand' }, spans }] }] }
    const headers = { 'content-type': 'application/json', [header]: token }
    await fetch(process.env.OTEL_EXPORTER_OTLP_ENDPOINT + '/v1/traces', { method: 'POST', headers, body: JSON.stringify(body) })
    console.log('order loaded, trace_id=' + traceId)
    response.setHeader('x-trace-id', traceId)
  }
  response.end('ok')
}).listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))
`
/** An app without dependencies. */
export const handTracedApp = {
  'package.json': JSON.stringify({ name: 'orders', private: true, scripts: { start: 'node server.js' } }),
  'server.js': handTracedServer,
}
