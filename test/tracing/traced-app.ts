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
