import type { HelpArticle } from '../topic.ts'

export const tracingTopics: HelpArticle[] = [
  {
    id: 'traces',
    title: 'Traces',
    summary: 'A request is slow or fails, and you want to see which query or call inside the app it is.',
    keywords: 'opentelemetry otel otlp span waterfall sql query slow tracing instrumentation jaeger distributed performance trace_not_found',
    body: [
      'A trace shows what happened during one request: the time at Homeport’s edge, the handler of the app, each SQL query and outgoing call, and the log lines that belong to it. The app creates the spans with an OpenTelemetry SDK, in any language. Homeport gives it the address to send them to, so that there is nothing to configure.',
      { h: 'Express and PostgreSQL' },
      {
        run: 'npm install @opentelemetry/sdk-node @opentelemetry/instrumentation-http @opentelemetry/instrumentation-express @opentelemetry/instrumentation-pg',
        note: 'in the folder of the app',
      },
      {
        file: 'tracing.js',
        text: `const { NodeSDK } = require('@opentelemetry/sdk-node')
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express')
const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg')
new NodeSDK({ instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation(), new PgInstrumentation()] }).start()`,
      },
      'Start the app with `node --require ./tracing.js server.js`, deploy it, and open a page of it. The trace is on the project’s Logs page, under Traces, some seconds later, because the SDK sends its spans in batches.',
      { run: 'npx homeport traces my-app --slow 500' },
      { run: 'npx homeport traces my-app req_01k…', note: 'the trace of one request, as a waterfall' },
      { h: 'Log lines' },
      'A line of the runtime log belongs to a trace if it contains the trace ID, or the ID of the request, which the app receives as `X-Request-Id`. OpenTelemetry has instrumentations for pino and winston that add `trace_id` and `span_id` to each line.',
      { h: 'What the app is given' },
      {
        list: [
          '`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_PROTOCOL` and `OTEL_EXPORTER_OTLP_HEADERS`: the address, and a token that can only add to the traces of this project.',
          '`OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`: the project or service, environment and version. Your own values are kept.',
          '`OTEL_METRICS_EXPORTER` and `OTEL_LOGS_EXPORTER` are `none`, because Homeport receives traces only.',
          'If you set a variable that starts with `OTEL_EXPORTER_`, or `OTEL_TRACES_EXPORTER`, the app sends its traces where you say, and gets none of these.',
        ],
      },
      'Prebuilt images of a `compose.yaml` get none of these variables. To turn traces off for a project, use its settings or the command below, then deploy again.',
      { run: 'npx homeport projects set my-app tracing=false' },
      { h: 'What is kept' },
      'The last 100,000 spans of a project, at most 200 MB, for three days. A project may send 2,000 spans in a second, with short bursts above it; the page says how many were left out. Long values are cut, the secrets of the project are masked, and credentials in addresses and captured headers are replaced. Traces are part of this instance only, and not of backups.',
    ],
  },
]
