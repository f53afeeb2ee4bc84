import type { Clock } from '../lib/clock.ts'
import { createAsleep } from './asleep.ts'
import type { HostCache } from './cache/host.ts'
import type { Page, Route } from './edge.ts'
import type { Meter, ProjectMeter } from './meter.ts'
import { createHotFiles } from './static-files.ts'
import { createStaticSite, type StaticSite } from './static.ts'
import type { Sweep } from './sweep.ts'
import type { UpstreamOptions } from './connection.ts'
import { createUpstream, type Upstream } from './upstream.ts'

/** A route while it stands, with all that is under way on it. Never shared between routes, nor reused after. */
export interface Instance {
  readonly route: Route
  readonly upstream: Upstream | null
  readonly site: StaticSite | null
  /** Its project's. */
  readonly meter: ProjectMeter
  /** What is stored of the app's answers, by how it was asked for: over TLS or not, under which name. */
  readonly cache: ((encrypted: boolean, host: string) => HostCache) | null
  /** Counts a request in; each is counted out once with `leave`. A quiet one is no visit: the name may sleep all the same. */
  enter(cut: () => void, quiet?: boolean): void
  leave(cut: () => void, quiet?: boolean): void
}

interface Standing extends Instance {
  retire(drain_ms: number): Promise<void>
  last_request_at: number
  /** Since when nobody is there, by the sweep's clock; undefined while somebody is. */
  idleSince(): number | undefined
  /** Visits that are under way: an open stream or WebSocket is one until its end. */
  visits: number
}

export interface Router {
  find(host: string): Instance | undefined
  /** Calls once, when the name gets another route (or loses its own). Returns how to take that back. */
  onceChanged(host: string, call: () => void): () => void
  set(host: string, route: Route, drain_ms: number): Promise<void>
  remove(host: string, drain_ms: number): Promise<void>
  /** See `Edge.setNames`. */
  setNames(host: string, names: readonly string[]): void
  takeLastRequests(): Map<string, number>
  /** See `Edge.idleSince`. */
  idleSince(host: string): number | undefined
  cut(): void
}

export function createRouter(
  clock: Clock,
  sweep: Sweep,
  meter: Meter,
  options: UpstreamOptions & {
    unknown?: ((host: string) => Page | undefined) | undefined
    cacheOf(projectId: string): Instance['cache']
    /** How long a request waits for an app that sleeps. */
    starting_ms: number
    wake?: ((route: Route) => void) | undefined
  },
): Router {
  const files = createHotFiles(() => sweep.now)
  const standing = new Map<string, Standing>()
  /** Host by further name, and the other way round. */
  const hosts = new Map<string, string>()
  const names = new Map<string, readonly string[]>()
  const draining = new Set<Standing>()
  const waiting = new Map<string, Set<() => void>>()
  const seen = new Map<string, number>()

  return {
    find(host) {
      const main = hosts.size === 0 ? host : (hosts.get(host) ?? host)
      const found = standing.get(host) ?? standing.get(main)
      if (found) return found
      const page = options.unknown?.(main)
      return page && new StandingRoute(page, clock, sweep, meter, null, null)
    },
    onceChanged(name, call) {
      const host = standing.has(name) ? name : (hosts.get(name) ?? name)
      const calls = waiting.get(host) ?? new Set()
      waiting.set(host, calls.add(call))
      return () => {
        calls.delete(call)
        if (calls.size === 0 && waiting.get(host) === calls) waiting.delete(host)
      }
    },
    set(host, route, drain_ms) {
      const old = standing.get(host)
      const upstream = route.kind === 'upstream' ? createUpstream(route, clock, sweep, options) : route.kind === 'asleep' ? asleep(route) : null
      const site = route.kind === 'static' ? createStaticSite(route, files) : null
      const standingRoute = new StandingRoute(route, clock, sweep, meter, upstream, site)
      if (upstream) standingRoute.cache = options.cacheOf(route.project_id)
      standing.set(host, standingRoute)
      return replaced(host, old, drain_ms)
    },
    remove(host, drain_ms) {
      const old = standing.get(host)
      standing.delete(host)
      return replaced(host, old, drain_ms)
    },
    setNames(host, further) {
      for (const name of names.get(host) ?? []) if (hosts.get(name) === host) hosts.delete(name)
      names.delete(host)
      if (further.length === 0) return
      names.set(host, further)
      for (const name of further) hosts.set(name, host)
    },
    takeLastRequests() {
      for (const instance of [...standing.values(), ...draining]) collect(instance)
      const taken = new Map(seen)
      seen.clear()
      return taken
    },
    idleSince: (host) => standing.get(host)?.idleSince(),
    cut() {
      for (const instance of [...standing.values(), ...draining]) void instance.retire(0)
      standing.clear()
    },
  }

  function asleep(route: Route): Upstream {
    let woken = false
    return createAsleep({
      sweep,
      patience_ms: options.starting_ms,
      wake() {
        if (woken) return
        woken = true
        options.wake?.(route)
      },
    })
  }

  function collect(instance: Standing): void {
    if (instance.visits > 0) instance.last_request_at = clock.now()
    if (instance.last_request_at === 0) return
    const id = instance.route.visited_as ?? instance.route.project_id
    seen.set(id, Math.max(seen.get(id) ?? 0, instance.last_request_at))
    instance.last_request_at = 0
  }

  async function replaced(host: string, old: Standing | undefined, drain_ms: number): Promise<void> {
    const calls = waiting.get(host)
    waiting.delete(host)
    for (const call of calls ?? []) call()
    if (old === undefined) return
    draining.add(old)
    await old.retire(drain_ms)
    draining.delete(old)
    collect(old)
  }
}

const nobody: ReadonlySet<() => void> = new Set()

/** A class, and a set only while somebody is there: an instance may have ten thousand names of which few are ever asked for. */
class StandingRoute implements Standing {
  readonly route: Route
  readonly upstream: Upstream | null
  readonly site: StaticSite | null
  cache: Instance['cache'] = null
  last_request_at = 0
  visits = 0
  readonly #clock: Clock
  readonly #sweep: Sweep
  readonly #meter: Meter
  #project: ProjectMeter | undefined
  #idle_since: number
  #under_way: Set<() => void> | undefined
  #emptied: (() => void) | undefined

  constructor(route: Route, clock: Clock, sweep: Sweep, meter: Meter, upstream: Upstream | null, site: StaticSite | null) {
    this.route = route
    this.#clock = clock
    this.#meter = meter
    this.#sweep = sweep
    this.#idle_since = sweep.now
    this.upstream = upstream
    this.site = site
  }

  get meter(): ProjectMeter {
    return (this.#project ??= this.#meter.of(this.route.project_id))
  }

  enter(cut: () => void, quiet = false): void {
    this.#under_way ??= new Set()
    this.#under_way.add(cut)
    if (quiet) return
    this.visits++
    this.last_request_at = this.#clock.now()
  }

  leave(cut: () => void, quiet = false): void {
    this.#under_way?.delete(cut)
    if (!quiet) {
      this.visits--
      this.last_request_at = this.#clock.now()
      this.#idle_since = this.#sweep.now
    }
    if (!this.#under_way?.size) this.#emptied?.()
  }

  idleSince(): number | undefined {
    // A quiet visit is no reason to stay awake afterwards, but is not cut off in the middle either.
    return this.#under_way?.size ? undefined : this.#idle_since
  }

  async retire(drain_ms: number): Promise<void> {
    this.upstream?.retire()
    if (this.#under_way?.size && drain_ms > 0) {
      const drained = Promise.withResolvers<void>()
      const timer = this.#clock.setTimeout(drained.resolve, drain_ms)
      this.#emptied = drained.resolve
      await drained.promise
      timer.cancel()
    }
    for (const cut of this.#under_way ?? nobody) cut()
    this.upstream?.destroy()
  }
}
