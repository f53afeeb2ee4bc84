import type { Socket } from 'node:net'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { createLog } from '../../lib/log.ts'
import type { StatusPage } from '../edge.ts'
import type { ConnectionOrigin } from '../listeners.ts'
import type { RequestRecord } from '../request-log.ts'
import { createEdgeServer, type EdgeServer } from '../server.ts'
import { type TlsCredentials, UnknownHostError } from '../tls.ts'
import { encodeBucket, encodeRecord } from './encoding.ts'
import { createFollowedState, type FollowedState } from './followed-state.ts'
import { createReporter } from './reporter.ts'
import { reportInterval_ms, type WorkerCall, type WorkerCommand, type WorkerEvent, type WorkerSettings, type WorkerState } from './protocol.ts'

/** How long the certificate of a host is used before the platform is asked again. */
const credentials_ms = 10_000
/** Stored responses sent to the other workers per report. */
const maxSharedResponses = 64
/** A report blocks the requests of this process for about a millisecond. */
const recordsPerReport = 250

const unresolvedPage: StatusPage = { kind: 'page', page: 'starting', project_id: '', project_name: '', deployment_id: null, dashboard_url: '' }

/** The edge of one process, which follows what the platform says. */
export interface WorkerEdge {
  handle(command: WorkerCommand, socket?: Socket): void
  /** Serves a connection of a listener of this process. */
  accept(socket: Socket, origin: ConnectionOrigin): void
  /** What the platform has said so far; undefined before the start. */
  getState(): WorkerState | undefined
}

export interface WorkerEdgeOptions {
  send(event: WorkerEvent): void
  /** Whether the platform would get a report now. Default: always. */
  canReport?: () => boolean
  /** Whether cached responses may be served, checked per request. Default: always. */
  isCacheCurrent?: () => boolean
  /** Called when a `close` is done. */
  onClosed(): void
}

export function createWorkerEdge({ send, canReport, isCacheCurrent, onClosed }: WorkerEdgeOptions): WorkerEdge {
  let settings: WorkerSettings
  let edge: EdgeServer
  /** Undefined before the start. */
  let followed: FollowedState | undefined
  /** What the platform said of the rest. */
  let state: WorkerState
  const stickySecret = Buffer.alloc(32)
  let reporter: ReturnType<typeof createReporter>
  let sharedResponses = 0
  let lastReport = ''

  /** Answers of the platform for host names without a route, until the next report; `undefined` while it is asked. */
  const resolvedHosts = new Map<string, StatusPage | null | undefined>()

  /** A request for a name without a route waits until the platform has said which page it has. */
  function resolveUnknownHost(host: string): StatusPage | undefined {
    if (!resolvedHosts.has(host)) {
      resolvedHosts.set(host, undefined)
      send({ type: 'resolve_host', host })
    }
    const page = resolvedHosts.get(host)
    if (page === undefined) return unresolvedPage
    return page ?? undefined
  }

  const credentialsByHost = new Map<string, { credentials: TlsCredentials; until: number }>()
  const pendingCredentials = new Map<number, PromiseWithResolvers<TlsCredentials>>()
  let credentialRequests = 0

  async function getTlsCredentials(host: string): Promise<TlsCredentials> {
    const known = credentialsByHost.get(host)
    if (known && known.until > performance.now()) return known.credentials
    const id = ++credentialRequests
    const pending = Promise.withResolvers<TlsCredentials>()
    pendingCredentials.set(id, pending)
    send({ type: 'get_credentials', id, host })
    const received = await pending.promise
    // The same object as before, which has a server of its own.
    const credentials = known?.credentials.certificate === received.certificate ? known.credentials : received
    credentialsByHost.set(host, { credentials, until: performance.now() + credentials_ms })
    return credentials
  }

  function follow(next: WorkerState): void {
    state = next
    settings = next.settings
    // In place, because the edge keeps it.
    Buffer.from(next.sticky_secret, 'base64').copy(stickySecret)
    // What was found without the platform.
    resolvedHosts.clear()
    if (!followed) start()
    followed?.follow(next)
    send({ type: 'ready' })
  }

  function start(): void {
    edge = createEdgeServer({
      log: createLog((line, { level, event }) => {
        const { ts: _, level: __, event: ___, ...fields } = JSON.parse(line) as Record<string, unknown>
        send({ type: 'log', level, event, fields })
      }),
      resolveUnknownHost,
      wake: (route) => send({ type: 'wake', route }),
      isMetricsEnabled: () => settings.is_metrics_enabled,
      isRequestLogEnabled: () => settings.is_request_log_enabled,
      isHttpsRedirectEnabled: () => settings.is_https_redirect_enabled,
      request_log_share: state.request_log_share,
      sticky_secret: stickySecret,
      ...(state.probe_secret !== undefined && { probe_secret: state.probe_secret }),
      ...(state.private_cookie !== undefined && { private_cookie: state.private_cookie }),
      apps_domain: state.apps_domain,
      ...(state.has_https && { getTlsCredentials }),
      ...(state.cache && {
        cache: {
          directory: state.cache.directory,
          memory_bytes: () => settings.cache_memory_bytes,
          disk_bytes: () => settings.cache_disk_bytes,
          ...(isCacheCurrent && { isCurrent: isCacheCurrent }),
        },
        cacheSharing: {
          onStored(response) {
            if (++sharedResponses <= maxSharedResponses)
              send({ type: 'cached', response, cache_changes: followed?.getCacheChanges(response.project_id) ?? 0 })
          },
          onInvalidated: (project_id, host, target) => send({ type: 'invalidated', project_id, host, target }),
        },
      }),
    })
    followed = createFollowedState(edge)
    reporter = createReporter(edge)
    setInterval(() => void (canReport?.() !== false && report()), reportInterval_ms)
  }

  /** One after the other, so that the answer to `report_now` comes after everything so far. */
  let reporting: Promise<void> = Promise.resolve()
  const report = (): Promise<void> => (reporting = reporting.then(sendReports))

  async function sendReports(): Promise<void> {
    sharedResponses = 0
    for (const [host, page] of resolvedHosts) if (page !== undefined) resolvedHosts.delete(host)
    const records = await edge.requests.take()
    for (let from = 0; from === 0 || from < records.length; from += recordsPerReport) {
      if (from > 0) await yieldToEventLoop()
      sendReport(records.slice(from, from + recordsPerReport))
    }
  }

  function sendReport(records: RequestRecord[]): void {
    const event: WorkerEvent = {
      type: 'report',
      metrics: edge.metrics.take().map(encodeBucket),
      records: records.map(encodeRecord),
      ...reporter.read(),
    }
    const text = records.length === 0 && event.metrics.length === 0 ? JSON.stringify(event) : ''
    // Nothing changed.
    if (text !== '' && text === lastReport) return
    lastReport = text
    send(event)
  }

  async function call(command: WorkerCall): Promise<unknown> {
    switch (command.type) {
      case 'set_route':
        return edge.setRoute(command.host, command.route, command)
      case 'remove_route':
        return edge.removeRoute(command.host, command)
      case 'purge':
        followed?.countCacheChange(command.project_id)
        return edge.cache.purge(command.project_id, command.scope)
      case 'purge_host':
        followed?.countCacheChange(command.project_id)
        return edge.cache.purgeHost(command.project_id, command.host)
      case 'remove_cache':
        followed?.countCacheChange(command.project_id)
        return edge.cache.removeProject(command.project_id)
      case 'inspect':
        return edge.cache.inspect(command.request)
      case 'report_now':
        return report()
    }
  }

  function accept(socket: Socket, origin: ConnectionOrigin): void {
    socket.allowHalfOpen = true
    socket.setNoDelay(true).setKeepAlive(true, 30_000)
    edge.accept(socket, origin)
  }

  function handle(command: WorkerCommand, socket?: Socket): void {
    switch (command.type) {
      case 'start':
        return follow(command.state)
      case 'settings':
        settings = command.settings
        return
      case 'https_port':
        state.https_port = command.port
        return edge.setHttpsPort(command.port)
      case 'connection':
        if (socket) accept(socket, command.origin)
        send({ type: 'accepted', id: command.id })
        return
      case 'cut_connections':
        return edge.cutConnections(command.listener)
      case 'set_aliases':
      case 'set_challenges':
      case 'set_capture':
      case 'set_caching':
        return followed?.apply(command)
      case 'set_development_route':
        if (command.route) edge.setDevelopmentRoute(command.host, command.route)
        else edge.removeDevelopmentRoute(command.host)
        return
      case 'host_resolved':
        resolvedHosts.set(command.host, command.page)
        return edge.notifyHost(command.host)
      case 'forget_metrics':
        return edge.metrics.forgetProject(command.project_id)
      case 'forget_requests':
        return edge.requests.forgetProject(command.project_id)
      case 'cached':
        return edge.cache.addShared(command.response)
      case 'invalidate':
        followed?.countCacheChange(command.project_id)
        return edge.cache.invalidate(command.project_id, command.host, command.target)
      case 'credentials': {
        const { id, certificate, key } = command
        pendingCredentials.get(id)?.resolve({ certificate, key, context: createSecureContext({ cert: certificate, key }) })
        pendingCredentials.delete(id)
        return
      }
      case 'no_credentials':
        pendingCredentials.get(command.id)?.reject(command.is_unknown_host ? new UnknownHostError() : new Error(command.message))
        pendingCredentials.delete(command.id)
        return
      case 'close':
        void edge.close({ grace_ms: command.grace_ms }).then(report).finally(onClosed)
        return
      default: {
        const { id, ...wanted } = command
        void call(wanted).then(
          (result) => send({ type: 'result', id, result }),
          (error: Error) => send({ type: 'failed', id, message: error.message }),
        )
      }
    }
  }

  return {
    handle,
    accept,
    getState: () => followed && { ...state, settings, ...followed.readTables() },
  }
}
