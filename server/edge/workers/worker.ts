import type { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { createLog } from '../../lib/log.ts'
import type { StatusPage } from '../edge.ts'
import { createEdgeServer, type EdgeServer } from '../server.ts'
import { type TlsCredentials, UnknownHostError } from '../tls.ts'
import { encodeBucket, encodeRecord } from './encoding.ts'
import { createReporter } from './reporter.ts'
import { reportInterval_ms, type WorkerCall, type WorkerCommand, type WorkerEvent, type WorkerSettings, type WorkerState } from './protocol.ts'

/**
 * An edge worker: a process that serves the connections which the platform passes to it. It has the whole routing table and a cache of its own, opens
 * no listener and no database, and ends with the platform.
 */

/** How long the certificate of a host is used before the platform is asked again. */
const credentials_ms = 10_000
/** Stored responses sent to the other workers per report. */
const maxSharedResponses = 64

const send = (event: WorkerEvent): void => void (process.connected && process.send?.(event))

/** Which state of a project's cache this worker has seen: the number of purges and invalidations. */
const cacheChanges = new Map<string, number>()
const countCacheChange = (projectId: string): void => void cacheChanges.set(projectId, (cacheChanges.get(projectId) ?? 0) + 1)

let settings: WorkerSettings
let edge: EdgeServer
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

const unresolvedPage: StatusPage = { kind: 'page', page: 'starting', project_id: '', project_name: '', deployment_id: null, dashboard_url: '' }

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

function start(state: WorkerState): void {
  settings = state.settings
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
    sticky_secret: Buffer.from(state.sticky_secret, 'base64'),
    ...(state.probe_secret !== undefined && { probe_secret: state.probe_secret }),
    ...(state.private_cookie !== undefined && { private_cookie: state.private_cookie }),
    apps_domain: state.apps_domain,
    ...(state.has_https && { getTlsCredentials }),
    ...(state.cache && {
      cache: {
        directory: state.cache.directory,
        memory_bytes: () => settings.cache_memory_bytes,
        disk_bytes: () => settings.cache_disk_bytes,
      },
      cacheSharing: {
        onStored(response) {
          if (++sharedResponses <= maxSharedResponses) send({ type: 'cached', response, cache_changes: cacheChanges.get(response.project_id) ?? 0 })
        },
        onInvalidated: (project_id, host, target) => send({ type: 'invalidated', project_id, host, target }),
      },
    }),
  })
  edge.setHttpsPort(state.https_port)
  for (const [host, route] of state.routes) void edge.setRoute(host, route)
  for (const [host, names] of state.aliases) edge.setAliases(host, names)
  for (const [host, responses] of state.challenges) edge.setChallenges(host, responses)
  for (const [host, route] of state.development_routes) edge.setDevelopmentRoute(host, route)
  for (const project of state.uncached_projects) edge.cache.setEnabled(project, false)
  for (const [project, criteria] of state.captures) edge.requests.setCapture(project, criteria)
  for (const [project, count] of state.cache_changes) cacheChanges.set(project, count)
  reporter = createReporter(edge)
  setInterval(() => void report(), reportInterval_ms)
  send({ type: 'ready' })
}

async function report(): Promise<void> {
  sharedResponses = 0
  for (const [host, page] of resolvedHosts) if (page !== undefined) resolvedHosts.delete(host)
  const records = await edge.requests.take()
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
      countCacheChange(command.project_id)
      return edge.cache.purge(command.project_id, command.scope)
    case 'purge_host':
      countCacheChange(command.project_id)
      return edge.cache.purgeHost(command.project_id, command.host)
    case 'remove_cache':
      countCacheChange(command.project_id)
      return edge.cache.removeProject(command.project_id)
    case 'inspect':
      return edge.cache.inspect(command.request)
    case 'report_now':
      return report()
  }
}

function accept(socket: Socket, { id, origin }: Extract<WorkerCommand, { type: 'connection' }>): void {
  socket.allowHalfOpen = true
  socket.setNoDelay(true).setKeepAlive(true, 30_000)
  edge.accept(socket, origin)
  send({ type: 'accepted', id })
}

function handle(command: WorkerCommand, socket: Socket | undefined): void {
  switch (command.type) {
    case 'start':
      return start(command.state)
    case 'settings':
      settings = command.settings
      return
    case 'https_port':
      return edge.setHttpsPort(command.port)
    case 'connection':
      if (socket) accept(socket, command)
      else send({ type: 'accepted', id: command.id })
      return
    case 'cut_connections':
      return edge.cutConnections(command.listener)
    case 'set_aliases':
      return edge.setAliases(command.host, command.names)
    case 'set_challenges':
      return edge.setChallenges(command.host, command.responses)
    case 'set_development_route':
      if (command.route) edge.setDevelopmentRoute(command.host, command.route)
      else edge.removeDevelopmentRoute(command.host)
      return
    case 'host_resolved':
      resolvedHosts.set(command.host, command.page)
      return edge.notifyHost(command.host)
    case 'set_caching':
      countCacheChange(command.project_id)
      return edge.cache.setEnabled(command.project_id, command.is_enabled)
    case 'set_capture':
      return edge.requests.setCapture(command.project_id, command.criteria)
    case 'forget_metrics':
      return edge.metrics.forgetProject(command.project_id)
    case 'forget_requests':
      return edge.requests.forgetProject(command.project_id)
    case 'cached':
      return edge.cache.addShared(command.response)
    case 'invalidate':
      countCacheChange(command.project_id)
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
      void edge
        .close({ grace_ms: command.grace_ms })
        .then(report)
        .finally(() => process.disconnect())
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

process.on('message', (command, socket) => handle(command as WorkerCommand, socket as Socket | undefined))
// The platform ended, in whatever way.
process.on('disconnect', () => process.exit())
// A terminal signals its whole process group. The platform ends this process once its requests are done.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
