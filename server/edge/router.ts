import type { Clock } from '../lib/clock.ts'
import type { Route } from './edge.ts'
import { createHotFiles, type HotFiles } from './static-files.ts'
import { createStaticSite, type StaticSite } from './static.ts'
import type { Sweep } from './sweep.ts'
import type { UpstreamOptions } from './connection.ts'
import { createUpstream, type Upstream } from './upstream.ts'

/** A route while it stands, with all that is under way on it. Never shared between routes, nor reused after. */
export interface Instance {
  readonly route: Route
  readonly upstream: Upstream | null
  readonly site: StaticSite | null
  /** Counts a request in; each is counted out once with `leave`. A quiet one is no visit: the name may sleep all the same. */
  enter(cut: () => void, quiet?: boolean): void
  leave(cut: () => void, quiet?: boolean): void
}

interface Standing extends Instance {
  retire(drain_ms: number): Promise<void>
  last_request_at: number
  /** Visits that are under way: an open stream or WebSocket is one until its end. */
  visits: number
}

export interface Router {
  find(host: string): Instance | undefined
  /** Calls once, when the name gets another route (or loses its own). Returns how to take that back. */
  onceChanged(host: string, call: () => void): () => void
  set(host: string, route: Route, drain_ms: number): Promise<void>
  remove(host: string, drain_ms: number): Promise<void>
  takeLastRequests(): Map<string, number>
  cut(): void
}

export function createRouter(clock: Clock, sweep: Sweep, options: UpstreamOptions): Router {
  const files = createHotFiles(() => sweep.now)
  const standing = new Map<string, Standing>()
  const draining = new Set<Standing>()
  const waiting = new Map<string, Set<() => void>>()
  const seen = new Map<string, number>()

  return {
    find: (host) => standing.get(host),
    onceChanged(host, call) {
      const calls = waiting.get(host) ?? new Set()
      waiting.set(host, calls.add(call))
      return () => {
        calls.delete(call)
        if (calls.size === 0 && waiting.get(host) === calls) waiting.delete(host)
      }
    },
    set(host, route, drain_ms) {
      const old = standing.get(host)
      standing.set(host, createInstance(route, clock, sweep, options, files))
      return replaced(host, old, drain_ms)
    },
    remove(host, drain_ms) {
      const old = standing.get(host)
      standing.delete(host)
      return replaced(host, old, drain_ms)
    },
    takeLastRequests() {
      for (const instance of [...standing.values(), ...draining]) collect(instance)
      const taken = new Map(seen)
      seen.clear()
      return taken
    },
    cut() {
      for (const instance of [...standing.values(), ...draining]) void instance.retire(0)
      standing.clear()
    },
  }

  function collect(instance: Standing): void {
    if (instance.visits > 0) instance.last_request_at = clock.now()
    if (instance.last_request_at === 0) return
    const id = instance.route.project_id
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

function createInstance(route: Route, clock: Clock, sweep: Sweep, options: UpstreamOptions, files: HotFiles): Standing {
  const upstream = route.kind === 'upstream' ? createUpstream(route, sweep, options) : null
  const site = route.kind === 'static' ? createStaticSite(route, files) : null
  const under_way = new Set<() => void>()
  let emptied: (() => void) | undefined

  const instance: Standing = {
    route,
    upstream,
    site,
    last_request_at: 0,
    visits: 0,
    enter(cut, quiet = false) {
      under_way.add(cut)
      if (quiet) return
      instance.visits++
      instance.last_request_at = clock.now()
    },
    leave(cut, quiet = false) {
      under_way.delete(cut)
      if (!quiet) {
        instance.visits--
        instance.last_request_at = clock.now()
      }
      if (under_way.size === 0) emptied?.()
    },
    async retire(drain_ms) {
      upstream?.retire()
      if (under_way.size > 0 && drain_ms > 0) {
        const drained = Promise.withResolvers<void>()
        const timer = setTimeout(drained.resolve, drain_ms)
        emptied = drained.resolve
        await drained.promise
        clearTimeout(timer)
      }
      for (const cut of under_way) cut()
      upstream?.destroy()
    },
  }
  return instance
}
