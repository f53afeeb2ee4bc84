import type { HostCache } from './cache/host-cache.ts'
import type { CacheRequestContext, PendingResponse } from './cache/reader.ts'
import { BodyTimeout, waitForTarget, type EdgeContext } from './edge-context.ts'
import { checkHttpsAndServerName } from './https-redirect.ts'
import type { CacheOutcome } from './metrics.ts'
import type { RequestCapture } from './request-capture.ts'
import { RequestMetrics } from './request-metrics.ts'
import type { Transport } from './request.ts'
import type { EdgeResponse, RequestContext } from './response.ts'
import type { OpenRequest, RouteTarget } from './router.ts'
import { createErrorResponse, createPageResponse, pageForFailure, pageForRoute, type StatusPageName } from './status-pages.ts'
import type { UpstreamFailure, UpstreamRequest } from './upstream/exchange.ts'
import { isLoopback } from './upstream/request-headers.ts'
import type { ResponseHead } from './upstream/response-head.ts'

/**
 * What happens to a request, however it was read: HTTPS and server name are checked, its host name is routed, and it is answered by a status page, a
 * static site, the cache or the app. Subclasses read requests and write responses, on a socket or through Node's parser.
 */
export abstract class RequestLifecycle implements RequestContext, CacheRequestContext {
  abstract readonly wantsRawChunks: boolean
  protected abstract readonly protocol: string
  id = ''
  method = ''
  /** Path and query, as sent. */
  target = ''
  host = ''
  readonly isLoopbackClient: boolean
  protected readonly edge: EdgeContext
  protected readonly transport: Transport
  protected readonly metrics: RequestMetrics
  /** A probe of the platform itself is neither redirected nor counted. */
  protected isProbe = false
  /** Set while the request is registered with it. */
  protected routeTarget: RouteTarget | undefined
  protected exchange: PendingResponse | undefined
  protected bodyTimeout: BodyTimeout | undefined
  #stopWaiting: (() => void) | undefined
  protected readonly destroy = (): void => void this.transport.destroy()
  readonly #open: OpenRequest = { slot: -1, abort: () => this.#cut() }
  /** The route was replaced, and its drain has ended. */
  #cut(): void {
    if (this.hasStarted || this.exchange === undefined || this.transport.destroyed) return this.destroy()
    this.exchange.abort()
    // The app may have received it, so that only a request without effects is sent again (RFC 9110, 9.2.2).
    const isRepeatable = (this.method === 'GET' || this.method === 'HEAD') && !this.hasBody()
    this.onError(isRepeatable ? 'rerouted' : 'closed')
  }
  readonly #onTarget = (target: RouteTarget | undefined, hasWaited: boolean): void => {
    if (hasWaited) this.metrics.markReady()
    this.#serveTarget(target)
  }

  constructor(edge: EdgeContext, transport: Transport) {
    this.edge = edge
    this.transport = transport
    this.metrics = new RequestMetrics(edge.metrics, edge.requestLog)
    this.isLoopbackClient = isLoopback(transport.remoteAddress ?? '')
  }

  /** The request was read. */
  protected begin(): void {
    const challenge = this.edge.challenges.respond(this)
    if (challenge !== undefined) return this.send(challenge)
    const redirect = this.isProbe ? undefined : checkHttpsAndServerName(this.edge, this.transport, this)
    if (redirect === undefined) return this.#dispatch()
    this.routeTarget = this.edge.router.find(this.host, this.isLoopbackClient)
    this.routeTarget?.addRequest(this.#open, this.isProbe)
    if (this.routeTarget) this.metrics.setTarget(this.routeTarget, null)
    this.send(redirect)
  }

  #dispatch(): void {
    const ready = this.edge.router.find(this.host, this.isLoopbackClient)
    if (ready?.upstream) return this.#serveTarget(ready)
    this.#stopWaiting = waitForTarget(this.edge, this, this.#onTarget)
  }

  #serveTarget(target: RouteTarget | undefined): void {
    if (target === undefined) return this.#sendPage('unknown_host')
    const { upstream, site } = target
    this.routeTarget = target
    target.addRequest(this.#open, this.isProbe)
    if (!this.isProbe) {
      this.metrics.setTarget(target, upstream ? 'bypass' : site ? 'hit' : null)
      const capture = this.metrics.startCapture(this)
      if (capture !== null) this.captureRequest(capture)
    }
    if (upstream) return this.#forward(target, upstream)
    if (!site) return this.#sendPage(pageForRoute(target.route))
    const response = site.respond(this)
    if (response instanceof Promise) void response.then((ready) => this.send(ready))
    else this.send(response)
  }

  #forward(target: RouteTarget, upstream: NonNullable<RouteTarget['upstream']>): void {
    const cache = this.findCache(target)
    if (cache === null) {
      const exchange = upstream.createExchange(this, this.buildUpstreamRequest())
      this.exchange = exchange
      return exchange.start()
    }
    if (this.sendFresh(cache)) return
    const reader = cache.createReader(this, upstream)
    this.exchange = reader
    reader.start()
  }

  /** The cache of the requested scheme and host. */
  protected abstract findCache(target: RouteTarget): HostCache | null

  /** Answers a simple request from memory, without a reader; false if it is not that simple. */
  protected abstract sendFresh(cache: HostCache): boolean

  onError(failure: UpstreamFailure): void {
    this.exchange = undefined
    if (this.hasStarted) {
      this.metrics.setFailure(failure)
      return this.destroy()
    }
    this.dropHead()
    // The connection was refused, so nothing was sent. The new target receives the request, body included.
    if ((failure === 'refused' || failure === 'rerouted') && this.edge.router.find(this.host, this.isLoopbackClient) !== this.routeTarget) {
      this.#leaveTarget()
      this.metrics.markReady()
      return this.#dispatch()
    }
    this.metrics.setFailure(failure)
    this.edge.log.warn('edge.upstream_failed', { request_id: this.id, host: this.host, failure })
    this.#sendPage(pageForFailure(failure, this.routeTarget?.route))
  }

  /** Rejects a request whose body is malformed or late: answers with this status unless a response has begun, then closes the connection. */
  refuse(status: number, message: string): void {
    this.#stopWaiting?.()
    this.bodyTimeout = undefined
    this.exchange?.abort()
    this.exchange = undefined
    if (this.hasStarted) this.destroy()
    else this.send(createErrorResponse(status, message, this), true)
  }

  protected startBodyTimeout(): BodyTimeout {
    this.bodyTimeout = new BodyTimeout(this.edge, () => this.refuse(408, 'The request body arrived too slowly.'))
    return this.bodyTimeout
  }

  /** The client is gone. */
  protected stop(): void {
    this.bodyTimeout?.stop()
    this.#stopWaiting?.()
    if (this.exchange && !this.isAnswered) this.metrics.setFailure('client_closed')
    this.exchange?.abort()
    this.exchange = undefined
    this.metrics.recordClientClosed()
    this.release()
  }

  /** The request is over. */
  protected release(): void {
    this.metrics.finish(this, this.transport, this.protocol)
    this.#leaveTarget()
  }

  /** The route target no longer waits for this request. */
  #leaveTarget(): void {
    this.routeTarget?.removeRequest(this.#open, this.isProbe)
    this.routeTarget = undefined
  }

  #sendPage(name: StatusPageName): void {
    this.send(createPageResponse(name, this, this.routeTarget?.route))
  }

  setCacheOutcome(outcome: CacheOutcome, status: string): void {
    this.metrics.setCacheOutcome(outcome, status)
  }

  /** The response was sent completely. */
  protected abstract get isAnswered(): boolean
  /** Part of a response was sent, so it cannot be replaced by another. */
  protected abstract get hasStarted(): boolean
  /** Drops the head of a response that was not sent yet. */
  protected abstract dropHead(): void
  /** Sends a complete response: a status page, a file, or a cached response. `close`: the connection ends with it. */
  abstract send(response: EdgeResponse, close?: boolean): void

  /** Keeps the head of the request, and what has arrived of its body. */
  protected abstract captureRequest(capture: RequestCapture): void

  abstract header(name: string): string | undefined
  abstract fields(name: string): string | undefined
  abstract hasBody(): boolean
  abstract buildUpstreamRequest(): UpstreamRequest
  abstract onRequestSent(replica: number | null): void
  abstract onDrain(): void
  abstract onContinue(): void
  abstract onInterim(head: ResponseHead): void
  abstract onHead(head: ResponseHead): void
  abstract flushHead(): void
  abstract onData(bytes: Buffer, start: number, end: number, framing?: number): boolean
  abstract onEnd(trailers: string): void
}
