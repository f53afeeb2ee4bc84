import { Agent, request, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { once } from 'node:events'
import { type Clock, sleep } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Route } from '../edge.ts'
import { isLoopback } from '../upstream/request-headers.ts'
import type { WorkerCall, WorkerCommand, WorkerEvent, WorkerState } from '../workers/protocol.ts'
import type { WorkerProcess } from '../workers/worker-process.ts'
import { readMessages, writeMessage } from './messages.ts'
import { epochHeader, lease_ms, upgradeProtocol, type NodeCommand, type NodeEvent, type NodeListeners, type TcpAddress } from './protocol.ts'
import { nameSite, uploadSite } from './site-upload.ts'

/** Where the edge of a node waits for the platform, and the certificates for it. */
export interface NodeEndpoint {
  /** Its name, for people. */
  node: string
  host: string
  port: number
  /** Of the lease under which the platform leads. */
  epoch: number
  /** PEM; each connection uses the current ones. `servername` is the name in the certificate of the edge. */
  tls: { ca: string; cert: string; key: string; servername: string }
}

export interface NodeEdgeStatus {
  node: string
  /** Whether it follows the platform. */
  is_connected: boolean
  /** Why it does not listen; null if it does. */
  problem: string | null
}

/** A node that cannot connect to another one. */
export interface ClosedPort {
  from: string
  to: { node: string; host: string; port: number }
}

/** The edge of another node, connected or not. */
export interface NodeLink extends Pick<WorkerProcess, 'send' | 'call'> {
  getStatus(): NodeEdgeStatus
  /** Those of the addresses that its machine cannot connect to; undefined if it does not say. */
  findClosed(addresses: TcpAddress[]): Promise<TcpAddress[] | undefined>
  /** The edge goes on alone. */
  close(): void
}

const firstPause_ms = 100
const maxPause_ms = 2_000
const connectTimeout_ms = 3_000
const answerTimeout_ms = 5_000
const siteRetry_ms = 30_000
type NodeCall = WorkerCall | { type: 'try_addresses'; addresses: TcpAddress[] }

/** What concerns this machine alone. */
const ownCommands: ReadonlySet<WorkerCommand['type']> = new Set(['close', 'connection', 'cut_connections', 'set_development_route'])
const purges: ReadonlySet<WorkerCall['type']> = new Set(['purge', 'purge_host', 'remove_cache'])

/**
 * Keeps the edge of another node at what the platform knows. Each connection begins with everything; after that come the changes. While there is none, a purge
 * takes until the edge has stopped serving cached responses.
 */
export function createNodeLink(options: {
  endpoint: NodeEndpoint
  listeners: NodeListeners
  log: Log
  clock: Clock
  getState(): WorkerState
  onEvent(event: WorkerEvent): void
  onDisconnected(): void
}): NodeLink {
  const { endpoint, log, clock } = options
  const { node, host, port } = endpoint
  const getAddress = (): RequestOptions => ({ host, port, ...endpoint.tls, minVersion: 'TLSv1.3' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const closing = new AbortController()
  const calls = new Map<number, PromiseWithResolvers<unknown>>()
  /** Those that wait for an edge that is silent. */
  const silenceWaiters = new Set<() => void>()
  /** Sites whose files it could not store. */
  const missingSites = new Set<string>()
  let isRetrying = false
  let callCount = 0
  let socket: Duplex | undefined
  /** Ends the uploads of a connection with it. */
  let uploading = new AbortController()
  /** It has everything of before. */
  let isFollowing = false
  /** What is sent after files that are being sent. */
  let queue: Promise<void> | undefined
  let isFailing = false
  let problem: string | null = null
  let heard_at = 0
  // It may have been there before this platform.
  let leaseUntil = clock.monotonic() + lease_ms

  const write = (command: NodeCommand): void => {
    if (socket) writeMessage(socket, command)
  }

  /** What another machine can do with a route. */
  const adapt = (route: Route): Route => {
    if (route.kind === 'static' && !missingSites.has(nameSite(route))) return { ...route, directory: nameSite(route) }
    if (route.kind !== 'static' && route.kind !== 'upstream') return route
    if (route.kind === 'upstream' && (isLoopback(host) || ![route, ...(route.others ?? [])].some((one) => isLoopback(one.host)))) return route
    const { project_id, project_name, deployment_id, dashboard_url } = route
    return { kind: 'page', page: 'not_on_node', project_id, project_name, deployment_id, dashboard_url }
  }
  const adaptState = (state: WorkerState): WorkerState => ({
    ...state,
    // It has no platform that probes it.
    probe_secret: undefined,
    cache: state.cache && { directory: null },
    development_routes: [],
    routes: state.routes.map(([name, route]) => [name, adapt(route)]),
  })
  const sendSite = async (route: Route): Promise<void> => {
    if (route.kind === 'static') await uploadSite(agent, { ...getAddress(), signal: uploading.signal }, nameSite(route), route.directory)
  }
  const retryMissingSites = async (): Promise<void> => {
    if (missingSites.size === 0 || !isFollowing || isRetrying) return
    isRetrying = true
    for (const [, route] of options.getState().routes)
      if (route.kind === 'static' && missingSites.has(nameSite(route)))
        await sendSite(route).then(
          () => {
            missingSites.delete(nameSite(route))
            for (const [host, one] of options.getState().routes)
              if (one.kind === 'static' && nameSite(one) === nameSite(route))
                enqueue({ type: 'set_route', id: ++callCount, host, route: one, drain_ms: 0 })
          },
          () => {},
        )
    isRetrying = false
  }

  /** Routes in the order of the calls, files included. Nothing else waits for files. */
  const enqueue = (command: WorkerCommand): void => {
    const isStatic = command.type === 'set_route' && command.route.kind === 'static'
    const adapted: WorkerCommand = command.type === 'set_route' ? { ...command, route: adapt(command.route) } : command
    const isRoute = command.type === 'set_route' || command.type === 'remove_route'
    if (!isRoute || (!queue && !isStatic)) return write(adapted)
    const own = socket
    const done: Promise<void> = (queue ?? Promise.resolve())
      .then(async () => {
        if (isStatic) await sendSite(command.route)
        if (socket === own) write(adapted)
      })
      .catch((error: unknown) => {
        log.warn('edge.node_site_failed', { node, error })
        // The next connection tries again.
        own?.destroy()
      })
      .finally(() => {
        if (queue === done) queue = undefined
      })
    queue = done
  }

  const handle = (event: NodeEvent): void => {
    heard_at = clock.monotonic()
    switch (event.type) {
      case 'renew_lease':
        if (!isFollowing) return
        leaseUntil = heard_at + lease_ms
        return write({ type: 'lease_renewed', id: event.id })
      case 'listening':
        problem = event.problem
        if (problem !== null) log.warn('edge.node_not_listening', { node, problem })
        return
      case 'result':
      case 'failed': {
        const pending = calls.get(event.id)
        calls.delete(event.id)
        if (event.type === 'result') pending?.resolve(event.result)
        else pending?.reject(new Error(event.message))
        return
      }
      case 'ready':
        for (const resolve of silenceWaiters) resolve()
        silenceWaiters.clear()
        isFailing = false
        log.info('edge.node_connected', { node })
        return options.onEvent(event)
      default:
        if (isFollowing) options.onEvent(event)
    }
  }

  /** Sends everything. Files first, and again those of routes that were set meanwhile. */
  const begin = async (own: Duplex): Promise<void> => {
    write({ type: 'listen', listeners: options.listeners })
    const sent = new Set<string>()
    for (;;) {
      const missing = options.getState().routes.flatMap(([, route]) => (route.kind === 'static' && !sent.has(nameSite(route)) ? [route] : []))
      if (missing.length === 0) break
      for (const route of missing) {
        missingSites.delete(nameSite(route))
        await sendSite(route).catch((error: unknown) => {
          missingSites.add(nameSite(route))
          log.warn('edge.node_site_failed', { node, error })
        })
        sent.add(nameSite(route))
      }
    }
    if (own.destroyed) return
    isFollowing = true
    write({ type: 'start', state: adaptState(options.getState()) })
  }

  const open = (): Promise<Duplex> =>
    new Promise((resolve, reject) => {
      const outgoing = request({
        ...getAddress(),
        agent: false,
        timeout: connectTimeout_ms,
        headers: { connection: 'upgrade', upgrade: upgradeProtocol, [epochHeader]: String(endpoint.epoch) },
      })
      outgoing.on('upgrade', (_response, opened, head) => {
        opened.setTimeout(0).setKeepAlive(true, 1_000).setNoDelay(true)
        if (head.length > 0) opened.unshift(head)
        resolve(opened)
      })
      outgoing.on('response', (response) =>
        outgoing.destroy(
          new Error(response.statusCode === 409 ? 'It follows another instance that leads the cluster.' : 'It is not the edge of a node.'),
        ),
      )
      outgoing.on('timeout', () => outgoing.destroy(new Error('It did not answer in time.')))
      outgoing.on('error', reject)
      closing.signal.addEventListener('abort', () => outgoing.destroy(), { once: true })
      outgoing.end()
    })

  const end = (): void => {
    socket = undefined
    isFollowing = false
    queue = undefined
    for (const pending of calls.values()) pending.resolve(undefined)
    calls.clear()
    options.onDisconnected()
  }

  const runSession = async (): Promise<void> => {
    const opened = await open()
    const ended = once(opened, 'close')
    opened.on('error', () => {})
    socket = opened
    uploading = new AbortController()
    opened.once('close', () => uploading.abort())
    heard_at = clock.monotonic()
    readMessages(opened, (message) => socket === opened && handle(message as NodeEvent))
    const silence = clock.setInterval(() => void (clock.monotonic() - heard_at > lease_ms && opened.destroy()), lease_ms / 5)
    const retry = clock.setInterval(() => void retryMissingSites(), siteRetry_ms)
    const stop = () => opened.destroy()
    closing.signal.addEventListener('abort', stop)
    try {
      await begin(opened)
      await ended
    } finally {
      silence.cancel()
      retry.cancel()
      closing.signal.removeEventListener('abort', stop)
      end()
    }
  }

  const run = async (): Promise<void> => {
    for (let pause_ms = firstPause_ms; !closing.signal.aborted; pause_ms = Math.min(2 * pause_ms, maxPause_ms)) {
      try {
        await runSession()
        pause_ms = firstPause_ms
      } catch (error) {
        if (!isFailing && !closing.signal.aborted) log.warn('edge.node_unreachable', { node, error })
        isFailing = true
      }
      await sleep(clock, pause_ms, closing.signal).catch(() => {})
    }
    agent.destroy()
  }
  void run()

  /** Until the edge serves no cached responses, or has been told of everything. */
  const waitForSilence = async (): Promise<void> => {
    const heard = Promise.withResolvers<void>()
    silenceWaiters.add(heard.resolve)
    await Promise.race([heard.promise, sleep(clock, Math.max(0, leaseUntil - clock.monotonic()), closing.signal).catch(() => {})])
    silenceWaiters.delete(heard.resolve)
  }

  /** Resolves with undefined if the connection ends first. */
  const ask = async (command: NodeCall): Promise<{ result: unknown } | undefined> => {
    const id = ++callCount
    const pending = Promise.withResolvers<unknown>()
    calls.set(id, pending)
    const own = socket
    if (command.type === 'try_addresses') write({ ...command, id })
    else enqueue({ ...command, id })
    const result = await pending.promise
    return socket === own ? { result } : undefined
  }

  return {
    send(command) {
      if (isFollowing && !ownCommands.has(command.type)) enqueue(command)
    },
    async call(command) {
      const answer = isFollowing ? await ask(command) : undefined
      if (answer) return answer.result
      if (purges.has(command.type)) await waitForSilence()
      return undefined
    },
    async findClosed(addresses) {
      if (!isFollowing) return undefined
      // One of an earlier version does not answer, or with an error.
      const silence = sleep(clock, answerTimeout_ms, closing.signal).then(() => undefined)
      const answer = await Promise.race([ask({ type: 'try_addresses', addresses }), silence]).catch(() => undefined)
      return answer?.result as TcpAddress[] | undefined
    },
    getStatus: () => ({ node, is_connected: isFollowing, problem }),
    close: () => closing.abort(),
  }
}
