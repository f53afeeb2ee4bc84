import type { MetricsCollector } from './metrics.ts'

/**
 * The edge: `http://{slug}.localhost:PORT` to whatever serves that name now. It looks names up in a table that the
 * yard keeps; it never splits or guesses them. It knows nothing of rows, builds or the API.
 */
export interface Edge {
  /** Opens the listener and resolves with the port that it got. A taken port: the next free one, and `fell_back` is true. */
  listen(options: { host: string; port: number }): Promise<{ port: number; fell_back: boolean }>

  /** The same for HTTPS: HTTP/2 and HTTP/1.1 over TLS. */
  listenSecure(options: { host: string; port: number }): Promise<{ port: number; fell_back: boolean }>

  /**
   * Opens a further listener, on an address of the network. `as`: what asks there for an address, or by a name that is
   * none of the internet's, is for this name. `is_look`: whoever comes by it is the platform itself, and no visitor. Rejects when the port is taken; closing cuts its connections at once.
   */
  listenOnNetwork(options: { address: string; port: number; as?: string; is_probe?: boolean }): Promise<{ port: number; close(): Promise<void> }>

  /**
   * Puts a route in place at once and for every request from now on. Resolves, for the route that was replaced, when its
   * last request has ended or after `drain_ms` (its connections are then cut).
   */
  setRoute(host: string, route: Route, options?: { drain_ms?: number }): Promise<void>

  /** Takes a name away: it answers 404 from now on. */
  removeRoute(host: string, options?: { drain_ms?: number }): Promise<void>

  /** Further names of one that has a route, or may have: they lead where it leads, pages included. Takes the place of those before. */
  setAliases(host: string, names: readonly string[]): void

  /** The route of a name, for the doctor and tests. */
  getRoute(host: string): Route | undefined

  /**
   * When each project was last asked for something, by its id (or as its route says), since the last call; one with an open stream or WebSocket is
   * in it each time. The platform's own looks do not count: they bear `look_secret` in `X-Homeport-Look`.
   */
  takeLastRequests(): Map<string, number>

  /**
   * Since when nobody has visited a name, in milliseconds of the monotonic clock (to a quarter of a second); undefined while
   * a visit is under way (an open stream or WebSocket is one), and when there is no such name.
   */
  idleSince(host: string): number | undefined

  /** What is stored of the apps' answers. */
  cache: EdgeCache

  /** Counts what is asked of the projects. */
  metrics: MetricsCollector

  close(options?: { grace_ms?: number }): Promise<void>
}

export type Route = RouteOwner &
  (
    | { kind: 'upstream'; host: string; port: number }
    | { kind: 'static'; directory: string; spa_fallback: boolean }
    /**
     * An app that sleeps: what is stored of it is answered; the first request for more calls `EdgeOptions.wake`, and all of those
     * wait for the route to change.
     */
    | { kind: 'asleep' }
    /** A page of our own. `starting` holds requests until the route changes. */
    | { kind: 'page'; page: 'not_deployed' | 'building' | 'starting' | 'stopped' | 'crashed' | 'failed' }
  )

export type StatusPage = Extract<Route, { kind: 'page' }>

interface RouteOwner {
  project_id: string
  project_name: string
  deployment_id: string | null
  /** Where the person who owns it finds it in the dashboard; shown on pages to a visitor on this machine. */
  dashboard_url: string
  /** Under what `takeLastRequests` tells its visits; absent: the project's id. */
  visited_as?: string | undefined
}

export type PurgeScope = { all: true } | { tags: readonly string[] } | { urls: readonly string[] }

export interface EdgeCache {
  /**
   * Takes stored answers out; resolves with how many when no request can get them any more, out of memory or from disk.
   * Rejects when the disk refuses. Of addresses those without a host mean every name of the project.
   */
  purge(projectId: string, scope: PurgeScope): Promise<number>
  /** Takes out all that is stored under one name of a project. */
  purgeHost(projectId: string, host: string): Promise<void>
  /** What is stored of a project now. */
  stats(projectId: string): { objects: number; bytes: number }
  /** What a plain GET of this would get now, and why; touches nothing. `origin`: scheme, name and port. Names of headers in lower case. */
  inspect(request: { project_id: string; origin: string; target: string; headers: Record<string, string> }): CacheInspection
  /** Off: every answer is a BYPASS, nothing is stored, and what is stored is dropped. */
  setEnabled(projectId: string, enabled: boolean): void
  /** Frees everything of a project that is gone. */
  removeProject(projectId: string): Promise<void>
}

export interface CacheInspection {
  key: string
  verdict: 'HIT' | 'STALE' | 'MISS' | 'BYPASS'
  why: string
  stored: {
    status: number
    stored_at: string
    age_s: number
    /** Negative: stale for so long. */
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
  /** Where the second tier lies; null keeps all in memory. */
  directory: string | null
  memory_bytes(): number
  /** 0: no second tier. */
  disk_bytes(): number
}
