/**
 * The edge: `http://{slug}.localhost:PORT` to whatever serves that name now. It looks names up in a table that the
 * yard keeps; it never splits or guesses them. It knows nothing of rows, builds or the API.
 */
export interface Edge {
  /** Opens the listener and resolves with the port that it got. A taken port: the next free one, and `fell_back` is true. */
  listen(options: { host: string; port: number }): Promise<{ port: number; fell_back: boolean }>

  /**
   * Puts a route in place at once and for every request from now on. Resolves, for the route that was replaced, when its
   * last request has ended or after `drain_ms` (its connections are then cut).
   */
  setRoute(host: string, route: Route, options?: { drain_ms?: number }): Promise<void>

  /** Takes a name away: it answers 404 from now on. */
  removeRoute(host: string, options?: { drain_ms?: number }): Promise<void>

  /** The route of a name, for the doctor and tests. */
  route(host: string): Route | undefined

  /**
   * When each project was last asked for something, by its id, since the last call; one with an open stream or WebSocket is
   * in it each time. The platform's own looks do not count: they bear `look_secret` in `X-Homeport-Look`.
   */
  takeLastRequests(): Map<string, number>

  close(options?: { grace_ms?: number }): Promise<void>
}

export type Route = RouteOwner &
  (
    | { kind: 'upstream'; host: string; port: number }
    | { kind: 'static'; directory: string; spa_fallback: boolean }
    /** A page of our own. `retry` holds a GET for a moment until the route changes (an app that is just starting). */
    | { kind: 'page'; page: 'not_deployed' | 'building' | 'starting' | 'stopped' | 'crashed' | 'failed' }
  )

export type Page = Extract<Route, { kind: 'page' }>

interface RouteOwner {
  project_id: string
  project_name: string
  deployment_id: string | null
  /** Where the person who owns it finds it in the dashboard; shown on pages to a visitor on this machine. */
  dashboard_url: string
}
