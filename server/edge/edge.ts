import type { EdgeListeners } from './listeners.ts'
import type { MetricsCollector } from './metrics.ts'
import type { EdgeRequests } from './request-log.ts'
import type { ReplicaLoad } from './upstream/balancer.ts'
import type { UpstreamAddress } from './upstream/connection.ts'

export type { ReplicaLoad } from './upstream/balancer.ts'

/**
 * The edge routes `http://{slug}.localhost:PORT`, and the same name below the apps domain, to the app that serves the name. It finds host names in a table that the deployment service
 * maintains and never derives anything from the name itself. It does not know about database rows, builds or the API.
 */
export interface Edge extends EdgeListeners {
  /**
   * Sets a route for all following requests. Resolves when the last request on the replaced route has ended, or after `drain_ms`, when its remaining
   * connections are cut. If only the replicas of a deployment change, those that stay keep their requests, and the others are drained.
   */
  setRoute(host: string, route: Route, options?: { drain_ms?: number }): Promise<void>

  /** Removes a route. Its host name answers 404 from now on. */
  removeRoute(host: string, options?: { drain_ms?: number }): Promise<void>

  /**
   * Sets the aliases of a host name, which may not have a route yet. Aliases follow its route, status pages included. Replaces the previous aliases.
   */
  setAliases(host: string, names: readonly string[]): void

  /**
   * The responses to HTTP-01 challenges for a host name whose certificate is being ordered, by token; none ends the order. Meanwhile the app gets no
   * request of a challenge, and otherwise all of them. Resolves once every worker and node answers so.
   */
  setChallenges(host: string, responses: Readonly<Record<string, string>>): Promise<void>

  /** The route of a host name, without its development route. */
  getRoute(host: string): Route | undefined

  /**
   * Sends the requests of this machine for a host name to a development server, whatever its route is. The route below may change at the same time and
   * serves again after `removeDevelopmentRoute`, which cuts open connections. Aliases and clients on the network keep the route below.
   */
  setDevelopmentRoute(host: string, route: DevelopmentRoute | StatusPage): void
  removeDevelopmentRoute(host: string): void

  /**
   * When each project last received a request, since the previous call, keyed by project id or by the route's `visited_as`. A project with an open
   * stream or WebSocket is always included. The platform's own probes, which carry `probe_secret` in `X-Homeport-Look`, do not count.
   */
  takeLastRequests(): Map<string, number>

  /** The host names that have a route, without aliases. */
  listHosts(): string[]
  /**
   * Since when a host name has been idle, in milliseconds of the monotonic clock (accurate to 250 ms). Undefined while a request, stream or WebSocket
   * is open, and for an unknown host name.
   */
  idleSince(host: string): number | undefined

  /** The replicas that serve a host name and their open requests. Empty for what is no running app. */
  listReplicaLoad(host: string): ReplicaLoad[]

  /** The cached responses of the apps. */
  cache: EdgeCache

  /** Counts the requests of each project. */
  metrics: MetricsCollector

  /** The finished requests of each project. */
  requests: EdgeRequests

  close(options?: { grace_ms?: number }): Promise<void>
}

export type Route = RouteOwner &
  /** `others`: the further replicas of the app. `is_sticky`: a cookie keeps a browser at its replica. */
  (
    | ({ kind: 'upstream'; others?: readonly UpstreamAddress[]; is_sticky?: boolean } & UpstreamAddress)
    | { kind: 'static'; directory: string; spa_fallback: boolean }
    /**
     * A sleeping app. Cached responses are served; the first request that needs the app calls `EdgeOptions.wake`, and all such requests wait for the
     * route to change.
     */
    | { kind: 'asleep' }
    /** A development server of this machine: nothing is cached and nothing is counted. `host_header`: the host that it receives. */
    | { kind: 'development'; host: string; port: number; host_header: HostHeader }
    /**
     * A status page of the edge. `starting` holds requests until the route changes. The last two are those of an edge on another node than the platform's.
     */
    | {
        kind: 'page'
        page:
          | 'not_deployed'
          | 'building'
          | 'starting'
          | 'stopped'
          | 'crashed'
          | 'failed'
          | 'no_web_service'
          | 'dev_starting'
          | 'not_on_node'
          | 'control_plane_away'
      }
  )

/** `localhost`: the Host header is `localhost:PORT`, and an Origin of the same site follows it; `public`: both stay as the client sent them. */
export type HostHeader = 'localhost' | 'public'

export type DevelopmentRoute = Extract<Route, { kind: 'development' }>
export type StatusPage = Extract<Route, { kind: 'page' }>

interface RouteOwner {
  project_id: string
  project_name: string
  deployment_id: string | null
  /** The project's page in the dashboard, linked on status pages for visitors on this machine. */
  dashboard_url: string
  /** The key under which `takeLastRequests` reports requests. Default: the project's id. */
  visited_as?: string | undefined
}

export type PurgeScope = { all: true } | { tags: readonly string[] } | { urls: readonly string[] }

export interface EdgeCache {
  /**
   * Removes cached responses from memory and disk. Resolves with their number once no request can be served from them, and rejects if a disk write
   * fails. URLs without a host apply to every host name of the project.
   */
  purge(projectId: string, scope: PurgeScope): Promise<number>
  /** Removes everything that is cached under one host name of a project. */
  purgeHost(projectId: string, host: string): Promise<void>
  /** What is cached for a project now. */
  stats(projectId: string): { objects: number; bytes: number }
  /**
   * What a GET with these headers would receive now, and why. Has no side effects. `origin`: scheme, host and port. Header names are in lower case.
   */
  inspect(request: CacheInspectionRequest): Promise<CacheInspection>
  /** When disabled, every response is a BYPASS, nothing is stored, and stored responses are dropped. */
  setEnabled(projectId: string, enabled: boolean): void
  /** Frees everything of a deleted project. */
  removeProject(projectId: string): Promise<void>
}

export interface CacheInspectionRequest {
  project_id: string
  origin: string
  target: string
  headers: Record<string, string>
}

export interface CacheInspection {
  key: string
  cache_status: 'HIT' | 'STALE' | 'MISS' | 'BYPASS'
  why: string
  stored: {
    status: number
    stored_at: string
    age_s: number
    /** Negative: how long it has been stale. */
    fresh_for_s: number
    stale_while_revalidate_s: number
    stale_if_error_s: number
    tags: string[]
    vary: string[]
    bytes: number
    tier: 'memory' | 'disk'
    headers: [string, string][]
  } | null
}

export interface CacheOptions {
  /** The folder of the disk tier; null keeps everything in memory. */
  directory: string | null
  memory_bytes(): number
  /** 0: no disk tier. */
  disk_bytes(): number
  /** Whether stored responses may be served now, checked per request. Default: always. */
  isCurrent?(): boolean
}
