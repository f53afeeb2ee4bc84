import { toLocalName } from '../lib/apps-domain.ts'
import type { Clock } from '../lib/clock.ts'
import { SlotSet, type Slotted } from './slot-set.ts'
import { createDevelopmentUpstream } from './upstream/development.ts'
import { createSleepingUpstream } from './upstream/sleeping.ts'
import type { HostCache } from './cache/host-cache.ts'
import type { DevelopmentRoute, StatusPage, Route } from './edge.ts'
import type { MetricsCollector, ProjectMetrics } from './metrics.ts'
import type { ProjectRequestLog, RequestLog } from './request-log.ts'
import { createStaticFileCache } from './static/file-cache.ts'
import { createStaticSite, type StaticSite } from './static/site.ts'
import type { DeadlineTimer } from './deadline-timer.ts'
import { edgeLimits } from './limits.ts'
import type { UpstreamOptions } from './upstream/connection.ts'
import { type BalancedUpstream, createBalancedUpstream, type ReplicaLoad } from './upstream/balancer.ts'
import { createUpstream, type ReplicaPool, type Upstream } from './upstream/pool.ts'

/** An active route with its open requests. Never shared between routes and never reused. */
export interface RouteTarget {
  readonly route: Route
  readonly upstream: Upstream | null
  readonly site: StaticSite | null
  /** The metrics of the route's project. */
  readonly metrics: ProjectMetrics
  /** Null for a development server, whose requests are not logged. */
  readonly requestLog: ProjectRequestLog | null
  /** The response cache for a scheme and host. */
  readonly cacheFor: ((encrypted: boolean, host: string) => HostCache) | null
  /** Registers a request; each is unregistered once with `removeRequest`. A probe is not a visit, so the app may go to sleep regardless. */
  addRequest(request: OpenRequest, isProbe?: boolean): void
  removeRequest(request: OpenRequest, isProbe?: boolean): void
}

/** A request as its route sees it. */
export interface OpenRequest extends Slotted {
  abort(): void
}

interface ManagedRouteTarget extends RouteTarget {
  route: Route
  upstream: Upstream | null
  /** The upstream of an app with several replicas. */
  balanced: BalancedUpstream | null
  drain(drain_ms: number): Promise<void>
  last_request_at: number
  /** Since when there has been no request, by the deadline timer's clock; undefined while there is one. */
  idleSince(): number | undefined
  /** Open visits. A stream or WebSocket counts until it ends. */
  active_count: number
}

export interface Router {
  /** `isLoopbackClient`: development routes are for clients of this machine. */
  find(host: string, isLoopbackClient?: boolean): RouteTarget | undefined
  /** Calls `listener` once, when the host name's route changes or is removed. Returns a function that unsubscribes. */
  onceRouteChanged(host: string, listener: () => void): () => void
  set(host: string, route: Route, drain_ms: number): Promise<void>
  remove(host: string, drain_ms: number): Promise<void>
  /** See `Edge.setAliases`. */
  setAliases(host: string, aliasesByHost: readonly string[]): void
  /** See `Edge.setDevelopmentRoute`; undefined removes it. */
  setDevelopmentRoute(host: string, route: DevelopmentRoute | StatusPage | undefined): void
  hasDevelopmentRoute(host: string): boolean
  takeLastRequests(): Map<string, number>
  /** See `Edge.listHosts`. */
  listHosts(): string[]
  /** See `Edge.idleSince`. */
  idleSince(host: string): number | undefined
  /** See `Edge.listReplicaLoad`. */
  listReplicaLoad(host: string): ReplicaLoad[]
  /** Another look at a host name without a route may find something. */
  notify(host: string): void
  destroy(): void
}

type UpstreamRoute = Extract<Route, { kind: 'upstream' }>

export function createRouter(
  clock: Clock,
  deadlines: DeadlineTimer,
  recorders: ProjectRecorders,
  options: UpstreamOptions & {
    resolveUnknownHost?: ((host: string) => StatusPage | undefined) | undefined
    cacheForProject(projectId: string): RouteTarget['cacheFor']
    /** How long a request waits for a sleeping app. */
    start_timeout_ms: number
    wake?: ((route: Route) => void) | undefined
    sticky_secret: Uint8Array
    /** See `EdgeOptions.apps_domain`. */
    apps_domain: string | null
  },
): Router {
  const files = createStaticFileCache(() => deadlines.now)
  const targets = new Map<string, ManagedRouteTarget>()
  /** Host by alias, and aliases by host. */
  const hostByAlias = new Map<string, string>()
  const aliasesByHost = new Map<string, readonly string[]>()
  const developmentTargets = new Map<string, ManagedRouteTarget>()
  const draining = new Set<ManagedRouteTarget>()
  const listenersByHost = new Map<string, Set<() => void>>()
  const lastRequests = new Map<string, number>()
  /** A name below the apps domain is never an alias, so that no custom domain takes over the name of a project. */
  const primaryOf = (host: string): string => {
    const local = toLocalName(host, options.apps_domain)
    return local === host && hostByAlias.size > 0 ? (hostByAlias.get(host) ?? host) : local
  }

  return {
    find(host, isLoopbackClient = true) {
      const development = isLoopbackClient && developmentTargets.size > 0 ? developmentTargets.get(host) : undefined
      if (development) return development
      const own = targets.get(host)
      if (own) return own
      const primary = primaryOf(host)
      const target = targets.get(primary)
      if (target) return target
      const page = options.resolveUnknownHost?.(primary)
      return page && new ActiveRoute(page, clock, deadlines, recorders, null, null)
    },
    onceRouteChanged(name, listener) {
      const host = targets.has(name) || developmentTargets.has(name) ? name : primaryOf(name)
      const listeners = listenersByHost.get(host) ?? new Set()
      listenersByHost.set(host, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && listenersByHost.get(host) === listeners) listenersByHost.delete(host)
      }
    },
    set(host, route, drain_ms) {
      const previous = targets.get(host)
      if (previous && route.kind === 'upstream' && isBalancedAs(previous.route, route)) return updateReplicas(previous, route, drain_ms)
      const upstream =
        route.kind === 'upstream' ? createUpstream(route, clock, deadlines, options) : route.kind === 'asleep' ? createSleeping(route) : null
      const site = route.kind === 'static' ? createStaticSite(route, files) : null
      const target = new ActiveRoute(route, clock, deadlines, recorders, upstream, site)
      if (upstream) target.cacheFor = options.cacheForProject(route.project_id)
      if (route.kind === 'upstream' && route.others?.length) void updateReplicas(target, route, 0)
      targets.set(host, target)
      return retireReplaced(host, previous, drain_ms)
    },
    remove(host, drain_ms) {
      const previous = targets.get(host)
      targets.delete(host)
      return retireReplaced(host, previous, drain_ms)
    },
    setAliases(host, aliases) {
      for (const name of aliasesByHost.get(host) ?? []) if (hostByAlias.get(name) === host) hostByAlias.delete(name)
      aliasesByHost.delete(host)
      if (aliases.length === 0) return
      aliasesByHost.set(host, aliases)
      for (const name of aliases) hostByAlias.set(name, host)
    },
    setDevelopmentRoute(host, route) {
      const previous = developmentTargets.get(host)
      if (route === undefined) developmentTargets.delete(host)
      else developmentTargets.set(host, new ActiveRoute(route, clock, deadlines, uncounted, createDevelopment(route), null))
      void retireReplaced(host, previous, 0)
    },
    takeLastRequests() {
      for (const target of [...targets.values(), ...draining]) collectLastRequest(target)
      const snapshot = new Map(lastRequests)
      lastRequests.clear()
      return snapshot
    },
    hasDevelopmentRoute: (host) => developmentTargets.has(host),
    listHosts: () => [...new Set([...targets.keys(), ...developmentTargets.keys()])],
    idleSince: (host) => targets.get(host)?.idleSince(),
    listReplicaLoad(host) {
      const target = targets.get(host)
      if (target?.route.kind !== 'upstream') return []
      if (target.balanced) return target.balanced.listLoad()
      const { address, countInFlight } = target.upstream as ReplicaPool
      return [{ host: address.host, port: address.port, in_flight: countInFlight(), is_ejected: false }]
    },
    notify: notifyListeners,
    destroy() {
      for (const target of [...targets.values(), ...developmentTargets.values(), ...draining]) void target.drain(0)
      targets.clear()
    },
  }

  function updateReplicas(target: ManagedRouteTarget, route: UpstreamRoute, drain_ms: number): Promise<void> {
    target.route = route
    target.balanced ??= createBalancedUpstream(clock, deadlines, options, target.upstream as ReplicaPool)
    target.upstream = target.balanced
    return target.balanced.update([route, ...(route.others ?? [])], route.is_sticky === true, drain_ms)
  }

  function createDevelopment(route: Route): Upstream | null {
    if (route.kind !== 'development') return null
    // A development server compiles on request, which may take minutes.
    return createDevelopmentUpstream(
      createUpstream(route, clock, deadlines, { ...options, response_timeout_ms: edgeLimits.dev_response_timeout_ms }),
      route,
    )
  }

  function createSleeping(route: Route): Upstream {
    let hasWoken = false
    return createSleepingUpstream({
      deadlines,
      timeout_ms: options.start_timeout_ms,
      wake() {
        if (hasWoken) return
        hasWoken = true
        options.wake?.(route)
      },
    })
  }

  function collectLastRequest(target: ManagedRouteTarget): void {
    if (target.active_count > 0) target.last_request_at = clock.now()
    if (target.last_request_at === 0) return
    const id = target.route.visited_as ?? target.route.project_id
    lastRequests.set(id, Math.max(lastRequests.get(id) ?? 0, target.last_request_at))
    target.last_request_at = 0
  }

  function notifyListeners(host: string): void {
    const listeners = listenersByHost.get(host)
    listenersByHost.delete(host)
    for (const listener of listeners ?? []) listener()
  }

  async function retireReplaced(host: string, previous: ManagedRouteTarget | undefined, drain_ms: number): Promise<void> {
    notifyListeners(host)
    if (previous === undefined) return
    draining.add(previous)
    await previous.drain(drain_ms)
    draining.delete(previous)
    collectLastRequest(previous)
  }
}

/** Whether two routes differ only in the replicas of one deployment. With one replica before and after, the route is replaced. */
const isBalancedAs = (previous: Route, route: UpstreamRoute): boolean =>
  previous.kind === 'upstream' &&
  previous.project_id === route.project_id &&
  previous.deployment_id === route.deployment_id &&
  (hasSeveral(previous) || hasSeveral(route))

/** Also while only one of them runs. */
const hasSeveral = ({ others, replica }: UpstreamRoute): boolean => others !== undefined || replica !== undefined

/** What counts and logs the requests of a project. */
interface ProjectRecorders {
  metrics: Pick<MetricsCollector, 'forProject'>
  requests: Pick<RequestLog, 'forProject'> | null
}

/** Requests to a development server do not count as visits of the project. */
const uncounted: ProjectRecorders = { metrics: { forProject: () => ({ recordResponse() {}, recordBytes() {} }) }, requests: null }

/** A class, with a set only while requests are open, because an instance may have ten thousand host names of which few receive requests. */
class ActiveRoute implements ManagedRouteTarget {
  route: Route
  upstream: Upstream | null
  balanced: BalancedUpstream | null = null
  readonly site: StaticSite | null
  cacheFor: RouteTarget['cacheFor'] = null
  last_request_at = 0
  active_count = 0
  readonly #clock: Clock
  readonly #deadlines: DeadlineTimer
  readonly #recorders: ProjectRecorders
  #projectMetrics: ProjectMetrics | undefined
  #projectRequestLog: ProjectRequestLog | undefined
  #idle_since: number
  #activeRequests: SlotSet<OpenRequest> | undefined
  #onDrained: (() => void) | undefined

  constructor(route: Route, clock: Clock, deadlines: DeadlineTimer, recorders: ProjectRecorders, upstream: Upstream | null, site: StaticSite | null) {
    this.route = route
    this.#clock = clock
    this.#recorders = recorders
    this.#deadlines = deadlines
    this.#idle_since = deadlines.now
    this.upstream = upstream
    this.site = site
  }

  get metrics(): ProjectMetrics {
    return (this.#projectMetrics ??= this.#recorders.metrics.forProject(this.route.project_id))
  }

  get requestLog(): ProjectRequestLog | null {
    if (this.#recorders.requests === null) return null
    return (this.#projectRequestLog ??= this.#recorders.requests.forProject(this.route.project_id))
  }

  addRequest(request: OpenRequest, isProbe = false): void {
    this.#activeRequests ??= new SlotSet()
    this.#activeRequests.add(request)
    if (isProbe) return
    this.active_count++
    this.last_request_at = this.#clock.now()
  }

  removeRequest(request: OpenRequest, isProbe = false): void {
    this.#activeRequests?.delete(request)
    if (!isProbe) {
      this.active_count--
      this.last_request_at = this.#clock.now()
      this.#idle_since = this.#deadlines.now
    }
    if (!this.#activeRequests?.size) this.#onDrained?.()
  }

  idleSince(): number | undefined {
    // A probe does not keep the app awake afterwards, but the app is not put to sleep during the probe.
    return this.#activeRequests?.size ? undefined : this.#idle_since
  }

  async drain(drain_ms: number): Promise<void> {
    this.upstream?.close()
    if (this.#activeRequests?.size && drain_ms > 0) {
      const drained = Promise.withResolvers<void>()
      const timer = this.#clock.setTimeout(drained.resolve, drain_ms)
      this.#onDrained = drained.resolve
      await drained.promise
      timer.cancel()
    }
    for (const request of this.#activeRequests?.values() ?? []) request.abort()
    this.upstream?.destroy()
  }
}
