import { formatTraceParent, parseTraceParent } from '../lib/trace-context.ts'
import type { CacheOutcome, MetricsCollector, ProjectMetrics } from './metrics.ts'
import type { RequestCapture } from './request-capture.ts'
import type { ProjectRequestLog, RequestLog } from './request-log.ts'
import type { Transport } from './request.ts'
import type { RequestContext } from './response.ts'
import type { RouteTarget } from './router.ts'
import { isEncrypted } from './upstream/request-headers.ts'
import type { UpstreamFailure } from './upstream/exchange.ts'

/** The client left before the response began. nginx introduced this status. */
const clientClosedRequest = 499

/**
 * Measures one request after another, for the metrics and for the request log. Every method but `start` may be called too often or too late. While
 * both are off, nothing is measured.
 */
export class RequestMetrics {
  /** Headers and bodies of the request; null for nearly all requests. */
  capture: RequestCapture | null = null
  readonly #collector: MetricsCollector
  readonly #requestLog: RequestLog
  #project: ProjectMetrics | null = null
  #log: ProjectRequestLog | null = null
  #deployment_id: string | null = null
  #cache: CacheOutcome | null = null
  #cacheStatus: string | null = null
  #started_at = -1
  #isCounted = false
  #isLogged = false
  #status = 0
  #bytes = 0
  /** Monotonic times; -1 if it did not happen. */
  #ready_at = -1
  #sent_at = -1
  #responded_at = -1
  #replica: number | null = null
  #failure: UpstreamFailure | 'client_closed' | null = null

  constructor(collector: MetricsCollector, requestLog: RequestLog) {
    this.#collector = collector
    this.#requestLog = requestLog
  }

  /** The head of a request was read. */
  start(): void {
    this.#started_at = this.#collector.now()
    this.#isCounted = this.#started_at >= 0
    this.#isLogged = this.#requestLog.isEnabled()
    this.#project = null
    this.#status = 0
    if (!this.#isLogged) return
    if (!this.#isCounted) this.#started_at = this.#requestLog.now()
    this.#log = null
    this.#cacheStatus = null
    this.#bytes = 0
    this.#ready_at = this.#sent_at = this.#responded_at = -1
    this.#replica = this.#failure = null
  }

  /** Sets the route of the request. A request without one is neither counted nor logged. */
  setTarget(target: RouteTarget, cache: CacheOutcome | null): void {
    this.#project = target.metrics
    this.#cache = cache
    if (!this.#isLogged) return
    this.#log = target.requestLog
    this.#deployment_id = target.route.deployment_id
  }

  /** Starts to keep headers and bodies, if requests of this project are captured. */
  startCapture(request: { method: string; target: string }): RequestCapture | null {
    if (!this.#isLogged || this.#log === null || this.#log.captureRule === null) return null
    this.capture?.release()
    this.capture = this.#log.startCapture(this.#log.captureRule, request)
    return this.capture
  }

  /** Sets the cache's result once it is known. `status`: the parameters of the header `Cache-Status`. */
  setCacheOutcome(cache: CacheOutcome, status: string): void {
    this.#cache = cache
    this.#cacheStatus = status
  }

  /** The app that the request waited for is up. */
  markReady(): void {
    if (this.#isLogged) this.#ready_at = this.#requestLog.now()
  }

  /** The head of the request was sent to this replica of the app, null for the only one. */
  markSent(replica: number | null): void {
    if (!this.#isLogged) return
    this.#sent_at = this.#requestLog.now()
    this.#replica = replica
  }

  /** The app failed, or the client left before the response was complete. */
  setFailure(failure: UpstreamFailure | 'client_closed'): void {
    this.#failure ??= failure
  }

  /** The response begins. */
  recordStatus(status: number): void {
    if (this.#status !== 0 || this.#project === null || this.#started_at < 0) return
    this.#status = status
    if (this.#isCounted) {
      const now = this.#collector.now()
      if (now >= 0) this.#project.recordResponse(status, now, now - this.#started_at, this.#cache)
      this.#responded_at = now
    }
    if (this.#isLogged && this.#responded_at < 0) this.#responded_at = this.#requestLog.now()
  }

  recordBytes(bytes: number): void {
    if (this.#started_at < 0 || this.#project === null) return
    if (this.#isCounted) this.#project.recordBytes(bytes)
    this.#bytes += bytes
  }

  /** A part of a file was sent. */
  recordFilePart(bytes: Buffer): void {
    this.recordBytes(bytes.length)
    this.capture?.responseBody.add(bytes)
  }

  /** The client disconnected. */
  recordClientClosed(): void {
    this.recordStatus(clientClosedRequest)
  }

  /** The request is over: adds it to the request log. */
  finish(request: RequestContext, transport: Transport, protocol: string): void {
    const log = this.#log
    if (!this.#isLogged || log === null || this.#status === 0) return
    this.#isLogged = false
    const capture = this.#takeCapture()
    if (!log.hasRoom(this.#status)) return capture?.release()
    const now = this.#requestLog.now()
    const ready_at = Math.max(this.#ready_at, this.#started_at)
    const sent_at = this.#sent_at < ready_at ? -1 : this.#sent_at
    log.add({
      project_id: log.project_id,
      id: request.id,
      method: request.method,
      host: request.host,
      target: request.target,
      protocol,
      is_encrypted: isEncrypted(transport),
      status: this.#status,
      duration_ms: now - this.#started_at,
      wake_ms: ready_at - this.#started_at,
      queue_ms: sent_at < 0 ? null : sent_at - ready_at,
      app_ms: sent_at < 0 ? null : this.#responded_at - sent_at,
      transfer_ms: now - this.#responded_at,
      bytes: this.#bytes,
      // Without a header `X-Cache`, the cache had no part in the response.
      cache: this.#cacheStatus === null ? null : this.#cache,
      cache_status: this.#cacheStatus,
      deployment_id: this.#deployment_id,
      replica: this.#replica,
      client_ip: transport.remoteAddress ?? '',
      user_agent: request.header('user-agent'),
      traceparent: request.header('traceparent'),
      failure: this.#failure,
      skipped_before: 0,
      capture,
    })
  }

  #takeCapture(): RequestCapture | null {
    const { capture } = this
    if (capture === null) return null
    this.capture = null
    if (capture.rule.matchesStatus(this.#status)) return capture
    capture.release()
    return null
  }

  /** The line of `traceparent` for the app, by which it records no trace of a probe. While the request log is off, the client's is forwarded as received. */
  traceParentLine(requestId: string, received: string | undefined): string {
    if (this.#isLogged) return `traceparent: ${formatTraceParent(requestId, parseTraceParent(received), this.#log !== null)}\r\n`
    return received === undefined ? '' : `traceparent: ${received}\r\n`
  }
}
