import { createHmac } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { limits } from '../contract/limits.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isSameSecret } from '../lib/token.ts'
import { createAppListeners, type FindHostAddress } from '../network/app-listeners.ts'
import { findProject } from '../store/projects.ts'
import type { Store } from '../store/store.ts'
import type { NewSpan } from '../store/trace-store.ts'
import { normalizeSpan } from './normalize-span.ts'
import { readJsonSpans } from './otlp-json.ts'
import { listenForOtlp, OtlpError, type OtlpRequest, type OtlpResult } from './otlp-listener.ts'
import type { MaskText } from './span-values.ts'
import { createTraceRecorder } from './trace-recorder.ts'

interface TraceReceiverOptions {
  store: Pick<Store, 'db' | 'traces'>
  /** Signs the tokens of environments. */
  key: Uint8Array
  clock: Clock
  log: Log
  data_dir: string
  instance_id: string
  findHostAddress: FindHostAddress
  runtimes: readonly RuntimeName[]
}

/** Whose spans they are: production of a project, a preview, or its development servers. */
export interface TraceEnvironment {
  id: string
  project_id: string
  branch: string | null
}

export interface TraceVariables {
  variables: Record<string, string>
  secrets: string[]
  note: string | null
}

export type TraceReceiver = ReturnType<typeof createTraceReceiver>

/** Requests of one project that are received at once. */
const requestsAtOnce = 4
/** A deployment may read its variables more than once. */
const masksKept = 4
/** Spans that are read before other work may run. */
const spansPerTurn = 100
const noVariables: TraceVariables = { variables: {}, secrets: [], note: null }

/** Receives the spans of apps by OTLP/HTTP. Each environment has a token, with which it can only add to the traces of its own project. */
export function createTraceReceiver(options: TraceReceiverOptions) {
  const { store, clock, log } = options
  const recorder = createTraceRecorder({ store: store.traces, clock, log })
  /** Environments of this run with the last masks of their secrets. */
  const environments = new Map<string, TraceEnvironment & { masks: MaskText[] }>()
  const receiving = new Map<string, number>()

  const createToken = (environmentId: string): string =>
    `${environmentId}.${createHmac('sha256', options.key).update(environmentId).digest('base64url')}`
  const isEnabled = (projectId: string): boolean => store.db.readSync((tx) => findProject(tx, projectId))?.tracing === 1

  const identify = (token: string | undefined) => {
    const id = token?.slice(0, token.indexOf('.')) ?? ''
    if (token === undefined || !isSameSecret(createToken(id), token)) throw new OtlpError(401, 'The header x-homeport-token is missing or wrong.')
    const environment = environments.get(id)
    if (!environment) throw new OtlpError(503, 'The app is not known yet. Try again.')
    return environment
  }

  const receive = async (request: OtlpRequest): Promise<OtlpResult> => {
    const environment = identify(request.token)
    const { project_id } = environment
    const running = receiving.get(project_id) ?? 0
    if (running >= requestsAtOnce) throw new OtlpError(429, `A project may send ${requestsAtOnce} requests at once.`)
    receiving.set(project_id, running + 1)
    try {
      const body = await request.readBody()
      if (!recorder.takeBytes(project_id, body.length)) throw new OtlpError(429, 'The project sends too much. Try again.')
      const { spans, invalid } = await readSpans(body, request.is_json, {
        mask: (text) => environment.masks.reduce((masked, mask) => mask(masked), text),
        branch: environment.branch,
        now: clock.now(),
      })
      if (!isEnabled(project_id)) return { rejected: spans.length + invalid, reason: 'Tracing is off for this project.' }
      const dropped = recorder.add(project_id, spans, invalid)
      return { rejected: dropped, reason: `Spans were not valid, or more than ${limits.tracing.per_second} in a second.` }
    } finally {
      receiving.set(project_id, (receiving.get(project_id) ?? 1) - 1)
    }
  }

  const listeners = createAppListeners({
    ...options,
    name: 'traces',
    listen: (host, port) => listenForOtlp(host, port, receive),
    notes: {
      unavailable: 'The trace receiver is not available, so this app cannot send traces.',
      cannotListen: (address) => `The trace receiver cannot listen on ${address}, so this app cannot send traces. Free the port, then deploy again.`,
    },
  })

  return {
    /** Listens again for apps that kept running. Failures are logged, and retried with the next deployment. */
    async start(): Promise<void> {
      if (await listeners.wasUsed()) await listeners.ensureAll()
    },

    /** Variables of the OpenTelemetry SDKs for the apps of an environment, or (`runtime` null) programs on this machine. Empty while tracing is off. */
    async variablesFor(environment: TraceEnvironment, runtime: RuntimeName | null): Promise<TraceVariables> {
      if (!isEnabled(environment.project_id)) return noVariables
      const { host, port, note } = await listeners.ensure(runtime)
      const token = createToken(environment.id)
      const variables = {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://${host}:${port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_EXPORTER_OTLP_HEADERS: `x-homeport-token=${token}`,
      }
      return { variables, secrets: [token, token.slice(environment.id.length + 1)], note }
    },

    /**
     * Spans of an environment are accepted once the mask of its secrets is known. The masks before remain, because the app that a deployment replaces
     * still has its own secrets.
     */
    setMask(environment: TraceEnvironment, mask: MaskText): void {
      const before = environments.get(environment.id)?.masks ?? []
      environments.set(environment.id, { ...environment, masks: [mask, ...before].slice(0, masksKept) })
    },

    flush: recorder.flush,

    /** Deletes the spans of a deleted project. */
    async forgetProject(projectId: string): Promise<void> {
      for (const { id, project_id } of environments.values()) if (project_id === projectId) environments.delete(id)
      await recorder.forgetProject(projectId)
    },

    async close(): Promise<void> {
      await listeners.close()
      await recorder.close()
    },
  }
}

async function readSpans(
  body: Uint8Array,
  isJson: boolean,
  context: Parameters<typeof normalizeSpan>[1],
): Promise<{ spans: NewSpan[]; invalid: number }> {
  // Loaded with the first request, because few apps send spans.
  const read = isJson ? readJsonSpans : (await import('./otlp-protobuf.ts')).readProtobufSpans
  const spans: NewSpan[] = []
  let invalid = 0
  try {
    for (const received of read(body)) {
      const span = normalizeSpan(received, context)
      if (span) spans.push(span)
      else invalid++
      const count = spans.length + invalid
      if (count % spansPerTurn === 0) await yieldToEventLoop()
      if (count > limits.tracing.burst) throw new OtlpError(413, `A request may have ${limits.tracing.burst} spans.`)
    }
  } catch (error) {
    throw error instanceof OtlpError ? error : new OtlpError(400, 'The body is not an ExportTraceServiceRequest.')
  }
  return { spans, invalid }
}
