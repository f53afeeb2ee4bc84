import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { isIP, type Socket } from 'node:net'
import { toLocalName } from '../../lib/apps-domain.ts'
import { sleep, systemClock, withTimeout } from '../../lib/clock.ts'
import type { Edge, Route } from '../edge.ts'
import { normalizeHost } from '../host-header.ts'
import { edgeLimits } from '../limits.ts'
import { type ConnectionOrigin, createEdgeListeners } from '../listeners.ts'
import { createMetricsCollector } from '../metrics.ts'
import type { RequestRecord } from '../request-log.ts'
import type { EdgeOptions } from '../server.ts'
import { UnknownHostError } from '../tls.ts'
import { decodeBucket, decodeRecord } from './encoding.ts'
import { createNodeLink, type NodeEndpoint, type NodeLink } from '../nodes/node-link.ts'
import type { NodeListeners } from '../nodes/protocol.ts'
import { type WorkerCall, type WorkerEvent, type WorkerReport, type WorkerSettings, type WorkerState } from './protocol.ts'
import { createSharedListeners } from './shared-listeners.ts'
import { createReportedState, findIdleSince, keepLastUse, type ReportedState, sumReplicaLoad, updateReportedState } from './reported-state.ts'
import { createSharedCache } from './shared-cache.ts'
import { startWorkerProcess, type PlainCommand, type WorkerProcess, type WorkerProgram } from './worker-process.ts'

/** What the edge of a platform needs of its options. The others are for tests of a single edge. */
type EdgeWorkersOptions = Omit<
  EdgeOptions,
  | 'fast_path'
  | 'connect_timeout_ms'
  | 'upstream_timeout_ms'
  | 'start_timeout_ms'
  | 'header_timeout_ms'
  | 'body_window_ms'
  | 'sticky_secret'
  | 'request_log_share'
  | 'cacheSharing'
> & { program: WorkerProgram; workers: number }

/** A worker here or the edge of another node, with what it last reported. */
interface Follower {
  process: Pick<WorkerProcess, 'send' | 'call'>
  /** It has the routes and serves connections. */
  isReady: boolean
  reported: ReportedState
}

/** One worker of this machine. */
interface Worker extends Follower {
  process: WorkerProcess
  startedAt: number
}

/** The edge in several processes, and on other nodes of a cluster. */
export interface EdgeWorkers extends Edge {
  /** Resolves when a worker serves, with false if one cannot start. */
  isRunning(): Promise<boolean>
  /** Tells the workers the settings, which have changed. */
  applySettings(): void
  /** Begins to lead the edge of another node. `release` lets it go on alone. */
  addNode(endpoint: NodeEndpoint, listeners: NodeListeners): Pick<NodeLink, 'getStatus' | 'findClosed'> & { release(): void }
}

/** A worker that lived shorter than this is replaced after a pause. */
const minLifetime_ms = 10_000
const restartPause_ms = 1_000
/** How long the first worker may take to start. */
const startTimeout_ms = 10_000
/** How long a worker may take to report. */
const reportTimeout_ms = 2_000
/** How long a worker may take to end, after the grace of its requests. */
const exitTimeout_ms = 2_000

/**
 * The edge as processes of its own. This process opens the listeners and passes each new connection to the worker with the fewest; a single worker accepts
 * from them itself. This process keeps the routing table, from which a new worker starts, and adds
 * up what the workers report. The edges of other nodes follow like workers and have listeners of their own.
 */
export function createEdgeWorkers(options: EdgeWorkersOptions): EdgeWorkers {
  const { log, program, clock = systemClock } = options
  const metrics = createMetricsCollector({ clock, isEnabled: options.isMetricsEnabled ?? (() => false) })
  const routes = new Map<string, Route>()
  const aliases = new Map<string, readonly string[]>()
  const hostByAlias = new Map<string, string>()
  const developmentRoutes: Map<string, WorkerState['development_routes'][number][1]> = new Map()
  const challenges = new Map<string, Readonly<Record<string, string>>>()
  const captures: Map<string, WorkerState['captures'][number][1]> = new Map()
  const sticky_secret = randomBytes(32).toString('base64')
  const platform_start = randomBytes(8).toString('hex')
  const lastRequests = new Map<string, number>()
  /** When each host got its route, or was last used at an edge that is gone; by the monotonic clock. */
  const usedAt = new Map<string, number>()
  let records: RequestRecord[] = []
  const running = Promise.withResolvers<boolean>()
  let https_port = 0
  let isClosed = false
  /** Connections that arrived while no worker was ready. */
  const waiting: { socket: Socket; origin: ConnectionOrigin }[] = []
  const workers: (Worker | undefined)[] = Array.from({ length: options.workers }, () => undefined)
  const nodes = new Map<Follower, NodeLink>()
  // Several workers are passed connections, so that each has as many.
  const sharedListeners = createSharedListeners(options.workers === 1 && process.platform !== 'win32')

  const readSettings = (): WorkerSettings => ({
    is_metrics_enabled: options.isMetricsEnabled?.() ?? false,
    is_request_log_enabled: options.isRequestLogEnabled?.() ?? false,
    is_https_redirect_enabled: options.isHttpsRedirectEnabled?.() ?? false,
    // Each worker has a part of the memory and of the disk.
    cache_memory_bytes: (options.cache?.memory_bytes() ?? 0) / options.workers,
    cache_disk_bytes: (options.cache?.disk_bytes() ?? 0) / options.workers,
  })

  const listStarted = (): Worker[] => workers.filter((worker) => worker !== undefined)
  const listFollowers = (): Follower[] => [...listStarted(), ...nodes.keys()]
  const listReported = (): ReportedState[] => listFollowers().map(({ reported }) => reported)
  const tellAll = (command: PlainCommand): void => {
    for (const { process } of listFollowers()) process.send(command)
  }
  const callAll = (command: WorkerCall): Promise<unknown[]> => Promise.all(listFollowers().map(({ process }) => process.call(command)))

  const cache = createSharedCache({
    directory: options.cache?.directory,
    tellAll,
    callAll,
    listStats: (projectId) => listReported().flatMap(({ cached }) => cached.get(projectId) ?? []),
  })

  const findRoute = (name: string): Route | undefined => {
    const host = normalizeHost(name)
    const local = toLocalName(host, options.apps_domain ?? null)
    const primary = local === host ? (hostByAlias.get(host) ?? host) : local
    return routes.get(host) ?? routes.get(primary) ?? options.resolveUnknownHost?.(primary)
  }

  const createState = (folder: WorkerState['cache']): WorkerState => ({
    platform_start,
    settings: readSettings(),
    has_https: options.getTlsCredentials !== undefined,
    https_port,
    cache: folder,
    probe_secret: options.probe_secret,
    private_cookie: options.private_cookie,
    sticky_secret,
    request_log_share: 1 / options.workers,
    apps_domain: options.apps_domain ?? null,
    routes: [...routes],
    aliases: [...aliases],
    development_routes: [...developmentRoutes],
    ...cache.getState(),
    challenges: [...challenges],
    captures: [...captures],
  })

  function startWorker(index: number, folder: WorkerState['cache']): void {
    const worker: Worker = { isReady: false, startedAt: clock.monotonic(), reported: createReportedState(), process: startProcess() }
    workers[index] = worker
    worker.process.send({ type: 'start', state: createState(folder) })

    function startProcess(): WorkerProcess {
      return startWorkerProcess({
        program,
        onEvent: (event) => handleEvent(worker, event),
        onAccepting: sharedListeners.onAccepting,
        onEnd(unaccepted, reason) {
          workers[index] = undefined
          if (isClosed) return
          keepLastUse(usedAt, worker.reported, clock.monotonic())
          log.warn('edge.worker_ended', { reason, pid: worker.process.pid })
          running.resolve(false)
          for (const { socket, origin } of unaccepted) accept(socket, origin)
          void replaceWorker(index, worker.startedAt)
        },
      })
    }
  }

  /** A purge may have missed the worker that ended, so the next one begins with an empty cache. */
  async function replaceWorker(index: number, startedAt: number): Promise<void> {
    if (clock.monotonic() - startedAt < minLifetime_ms) await sleep(clock, restartPause_ms)
    // The folder may have another user by now.
    if (isClosed) return
    const folder = cache.getFolder(index)
    try {
      if (folder?.directory) await rm(folder.directory, { recursive: true, force: true })
    } catch (error) {
      log.warn('edge.cache_removal_failed', { error })
      if (folder) folder.directory = null
    }
    if (!isClosed) startWorker(index, folder)
  }

  function handleEvent(worker: Follower, event: WorkerEvent): void {
    switch (event.type) {
      case 'ready': {
        worker.isReady = true
        running.resolve(true)
        for (const { socket, origin } of waiting.splice(0)) accept(socket, origin)
        if (worker === workers[0]) sharedListeners.setWorker(workers[0].process)
        return
      }
      case 'resolve_host':
        return worker.process.send({
          type: 'host_resolved',
          host: event.host,
          page: options.resolveUnknownHost?.(event.host) ?? null,
        })
      case 'wake':
        return options.wake?.(event.route)
      case 'get_credentials':
        return void sendCredentials(worker, event.id, event.host)
      case 'log':
        return log[event.level](event.event, event.fields)
      case 'report':
        return addReport(worker, event)
      case 'cached':
        // A response from before a purge must not come back with another worker.
        if (!cache.isCurrent(event.response.project_id, event.cache_changes)) return
        for (const other of listFollowers()) if (other.isReady && other !== worker) other.process.send({ type: 'cached', response: event.response })
        return
      case 'invalidated':
        cache.countChange(event.project_id)
        // The sender too: a response that another worker had stored before may have reached it meanwhile.
        return tellAll({ type: 'invalidate', project_id: event.project_id, host: event.host, target: event.target })
      default:
    }
  }

  async function sendCredentials(worker: Follower, id: number, host: string): Promise<void> {
    try {
      if (isIP(host) === 0 && findRoute(host) === undefined && !developmentRoutes.has(host)) throw new UnknownHostError()
      const credentials = await options.getTlsCredentials?.(host)
      if (!credentials) throw new Error('The edge has no certificates to show.')
      worker.process.send({ type: 'credentials', id, certificate: credentials.certificate, key: credentials.key })
    } catch (error) {
      worker.process.send({ type: 'no_credentials', id, message: (error as Error).message, is_unknown_host: error instanceof UnknownHostError })
    }
  }

  function addReport({ reported }: Follower, report: WorkerReport): void {
    metrics.restore(report.metrics.map(decodeBucket))
    for (const record of report.records) records.push(decodeRecord(record))
    for (const [key, at_ms] of report.last_requests) lastRequests.set(key, Math.max(lastRequests.get(key) ?? 0, at_ms))
    updateReportedState(reported, report, clock.monotonic())
  }

  function accept(socket: Socket, origin: ConnectionOrigin): void {
    socket.on('error', () => {})
    const [first, ...others] = listStarted().filter(({ isReady }) => isReady)
    if (first === undefined) {
      if (isClosed || waiting.length >= edgeLimits.connections) socket.destroy()
      else waiting.push({ socket, origin })
      return
    }
    let chosen = first
    for (const other of others) if (other.reported.connections < chosen.reported.connections) chosen = other
    chosen.reported.connections++
    chosen.process.handOver(socket, origin)
  }

  const { close: closeListeners, ...listeners } = createEdgeListeners({
    log,
    isSecure: options.getTlsCredentials !== undefined,
    accept,
    onSecurePort(port) {
      https_port = port
      tellAll({ type: 'https_port', port })
    },
    onClose: (listener) => tellAll({ type: 'cut_connections', listener }),
    pauseOnConnect: true,
    onOpen: sharedListeners.add,
  })

  for (let index = 0; index < options.workers; index++) startWorker(index, cache.getFolder(index))

  return {
    ...listeners,
    applySettings: () => tellAll({ type: 'settings', settings: readSettings() }),
    isRunning: async () => (await withTimeout(clock, startTimeout_ms, running.promise)) === true,
    addNode(endpoint, nodeListeners) {
      const node: Follower = {
        isReady: false,
        reported: createReportedState(),
        process: { send: (command) => link.send(command), call: (command) => link.call(command) },
      }
      const link = createNodeLink({
        endpoint,
        listeners: nodeListeners,
        log,
        clock,
        getState: () => createState(cache.getFolder(0)),
        onEvent: (event) => handleEvent(node, event),
        onDisconnected() {
          keepLastUse(usedAt, node.reported, clock.monotonic())
          Object.assign(node, { isReady: false, reported: createReportedState() })
        },
      })
      nodes.set(node, link)
      return {
        getStatus: link.getStatus,
        findClosed: link.findClosed,
        release() {
          link.close()
          nodes.delete(node)
        },
      }
    },
    async setRoute(name, route, { drain_ms = edgeLimits.drain_ms } = {}) {
      const host = normalizeHost(name)
      routes.set(host, route)
      usedAt.set(host, clock.monotonic())
      await callAll({ type: 'set_route', host, route, drain_ms })
    },
    async removeRoute(name, { drain_ms = edgeLimits.drain_ms } = {}) {
      const host = normalizeHost(name)
      routes.delete(host)
      usedAt.delete(host)
      await callAll({ type: 'remove_route', host, drain_ms })
    },
    setAliases(name, given) {
      const host = normalizeHost(name)
      const names = given.map(normalizeHost)
      for (const alias of aliases.get(host) ?? []) if (hostByAlias.get(alias) === host) hostByAlias.delete(alias)
      if (names.length > 0) aliases.set(host, names)
      else aliases.delete(host)
      for (const alias of names) hostByAlias.set(alias, host)
      tellAll({ type: 'set_aliases', host, names })
    },
    async setChallenges(name, responses) {
      const host = normalizeHost(name)
      if (Object.keys(responses).length === 0) challenges.delete(host)
      else challenges.set(host, responses)
      tellAll({ type: 'set_challenges', host, responses })
      // Commands are carried out in order.
      await callAll({ type: 'report_now' })
    },
    getRoute: findRoute,
    setDevelopmentRoute(name, route) {
      const host = normalizeHost(name)
      developmentRoutes.set(host, route)
      tellAll({ type: 'set_development_route', host, route })
    },
    removeDevelopmentRoute(name) {
      const host = normalizeHost(name)
      developmentRoutes.delete(host)
      tellAll({ type: 'set_development_route', host, route: null })
    },
    takeLastRequests() {
      const taken = new Map(lastRequests)
      lastRequests.clear()
      return taken
    },
    listHosts: () => [...new Set([...routes.keys(), ...developmentRoutes.keys()])],
    idleSince(name) {
      const host = normalizeHost(name)
      const since = usedAt.get(host)
      return since === undefined ? undefined : findIdleSince(host, listReported(), since)
    },
    listReplicaLoad(name) {
      const host = normalizeHost(name)
      return sumReplicaLoad(host, routes.get(host), listReported())
    },
    cache: cache.edgeCache,
    metrics: {
      ...metrics,
      forgetProject(project_id) {
        metrics.forgetProject(project_id)
        tellAll({ type: 'forget_metrics', project_id })
      },
    },
    requests: {
      isEnabled: options.isRequestLogEnabled ?? (() => false),
      async take() {
        await withTimeout(clock, reportTimeout_ms, callAll({ type: 'report_now' }))
        const taken = records
        records = []
        return taken
      },
      setCapture(project_id, criteria) {
        if (criteria) captures.set(project_id, criteria)
        else captures.delete(project_id)
        tellAll({ type: 'set_capture', project_id, criteria })
      },
      forgetProject(project_id) {
        captures.delete(project_id)
        records = records.filter((record) => record.project_id !== project_id)
        tellAll({ type: 'forget_requests', project_id })
      },
    },
    async close({ grace_ms = 0 } = {}) {
      isClosed = true
      const closed = closeListeners()
      sharedListeners.close()
      for (const { socket } of waiting) socket.destroy()
      for (const link of nodes.values()) link.close()
      tellAll({ type: 'close', grace_ms })
      const ended = Promise.all(listStarted().map(({ process }) => process.ended))
      if ((await withTimeout(clock, grace_ms + exitTimeout_ms, ended)) === undefined) for (const { process } of listStarted()) process.kill()
      await ended
      await closed
    },
  }
}
