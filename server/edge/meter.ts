import { metricsBuckets, metricsCounters } from '../contract/metrics.ts'
import type { Clock } from '../lib/clock.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'

/** What the cache was for a request; null where it has no say (pages of ours). An answer that is stale counts as a hit. */
export type CacheWord = 'hit' | 'miss' | 'bypass'

/** Counts what is asked of the projects. It only counts: somebody takes the readings from time to time and keeps them. */
export interface Meter {
  /** Never waits, and is cheap to hold: one for each route that stands. */
  of(projectId: string): ProjectMeter
  /** Monotonic ms; -1 while nothing is to be counted. */
  now(): number
  coldStart(projectId: string, ms: number): void
  /** Those that were asked for something since they were taken. */
  projects(): string[]
  /** Hands over what was counted since the last call, of one project or of all. */
  take(projectId?: string): MeterReading[]
  /** Takes readings back that could not be kept. */
  give(readings: readonly MeterReading[]): void
  /** Drops what was counted of a project that is gone for good, and counts nothing more of it. */
  forget(projectId: string): void
}

export interface ProjectMeter {
  /** A request, once its answer begins: at the monotonic moment `at`, so many ms after its head was read. */
  count(status: number, at: number, ms: number, cache: CacheWord | null): void
  /** More of its body. */
  sent(bytes: number): void
}

/** One project within one quarter of an hour; there may be several of the same, to be added up. */
export interface MeterReading {
  project_id: string
  /** Where the quarter begins: seconds since 1970. */
  ts: number
  requests: number
  status_2xx: number
  status_3xx: number
  status_4xx: number
  status_5xx: number
  bytes_out: number
  cache_hits: number
  cache_misses: number
  cache_bypass: number
  latencies: Histogram
  cold_starts: number
  /** null without one: most have none. */
  cold_latencies: Histogram | null
  /** Milliseconds since 1970. */
  last_cold_start_at: number | null
}

const { seconds } = metricsBuckets['24h']
/** The client left before there was an answer; the number that nginx made known. */
const clientGone = 499

/** What a visit tells the meter, request after request. Everything but `begin` may come too often or too late. */
export class Tally {
  readonly #meter: Meter
  #project: ProjectMeter | null = null
  #cache: CacheWord | null = null
  #began = -1
  #answered = true

  constructor(meter: Meter) {
    this.#meter = meter
  }

  /** The head of a request was read. */
  begin(): void {
    this.#began = this.#meter.now()
    this.#answered = this.#began < 0
    this.#project = null
  }

  /** Whom it is for; without this it is not counted. */
  of(project: ProjectMeter, cache: CacheWord | null): void {
    this.#project = project
    this.#cache = cache
  }

  /** What the cache came to be for it. */
  cached(cache: CacheWord): void {
    this.#cache = cache
  }

  /** Its answer begins. */
  answered(status: number): void {
    if (this.#answered || this.#project === null) return
    this.#answered = true
    const now = this.#meter.now()
    if (now >= 0) this.#project.count(status, now, now - this.#began, this.#cache)
  }

  sent(bytes: number): void {
    if (this.#began >= 0 && this.#project !== null) this.#project.sent(bytes)
  }

  /** The client is gone. */
  gone(): void {
    this.answered(clientGone)
  }
}

export function createMeter(options: { clock: Clock; on(): boolean }): Meter {
  const { clock } = options
  /** What is counted now, by project; only those that were asked since the last `take`. */
  const windows = new Map<string, Window>()
  /** Quarters that ended before they were taken, or could not be kept: of each project and quarter one at most. */
  const ended = new Map<string, Window[]>()

  /** What still flows for them is not counted: nothing of it would ever be freed. */
  const gone = new Set<string>()

  const windowOf = (projectId: string, ts: number): Window => {
    if (gone.has(projectId)) return new Window(projectId, ts)
    const now = windows.get(projectId)
    if (now?.ts === ts) return now
    if (now) close(now)
    const next = new Window(projectId, ts)
    windows.set(projectId, next)
    return next
  }

  const keep = (window: Window): void => {
    window.closed = true
    const older = ended.get(window.project_id) ?? []
    const same = older.find((one) => one.ts === window.ts)
    if (same) same.add(window)
    else older.push(window)
    ended.set(window.project_id, older)
  }

  const close = (window: Window): void => {
    windows.delete(window.project_id)
    keep(window)
  }

  const takeOne = (projectId: string): MeterReading[] => {
    const now = windows.get(projectId)
    if (now) close(now)
    const taken = ended.get(projectId) ?? []
    ended.delete(projectId)
    return taken
  }

  const projects = (): string[] => [...new Set([...windows.keys(), ...ended.keys()])]

  const quarter = (): number => Math.floor(clock.now() / 1000 / seconds) * seconds

  return {
    of: (projectId) => new OneProject(projectId, clock, windowOf),
    now: () => (options.on() ? clock.monotonic() : -1),
    coldStart(projectId, ms) {
      if (!options.on()) return
      const window = windowOf(projectId, quarter())
      window.cold_starts++
      window.cold_latencies ??= createHistogram()
      window.cold_latencies.add(ms)
      window.last_cold_start_at = clock.now()
    },
    projects,
    take: (projectId) => (projectId === undefined ? projects().flatMap(takeOne) : takeOne(projectId)),
    give(readings) {
      for (const reading of readings) {
        const window = new Window(reading.project_id, reading.ts)
        window.add(reading)
        keep(window)
      }
    },
    forget(projectId) {
      takeOne(projectId)
      gone.add(projectId)
    },
  }
}

class OneProject implements ProjectMeter {
  readonly #projectId: string
  readonly #clock: Clock
  readonly #windowOf: (projectId: string, ts: number) => Window
  #window: Window | null = null
  /** Until this monotonic moment the window needs no look at the wall clock. */
  #certain_until = 0

  constructor(projectId: string, clock: Clock, windowOf: (projectId: string, ts: number) => Window) {
    this.#projectId = projectId
    this.#clock = clock
    this.#windowOf = windowOf
  }

  count(status: number, at: number, ms: number, cache: CacheWord | null): void {
    const window = this.#now(at)
    window.requests++
    // The answer of a WebSocket is a 101, of no class that the contract has.
    if (status >= 500) window.status_5xx++
    else if (status >= 400) window.status_4xx++
    else if (status >= 300) window.status_3xx++
    else if (status >= 200) window.status_2xx++
    if (cache === 'hit') window.cache_hits++
    else if (cache === 'miss') window.cache_misses++
    else if (cache === 'bypass') window.cache_bypass++
    window.latencies.add(ms)
  }

  sent(bytes: number): void {
    // Without a look at the clock: what stands open was looked at a moment ago, as readings are taken every few seconds.
    const window = this.#window
    if (window !== null && !window.closed) window.bytes_out += bytes
    else this.#now(this.#clock.monotonic()).bytes_out += bytes
  }

  #now(at: number): Window {
    if (at < this.#certain_until && this.#window?.closed === false) return this.#window
    const seconds_now = this.#clock.now() / 1000
    const ts = Math.floor(seconds_now / seconds) * seconds
    // The wall clock may be set.
    this.#certain_until = at + Math.min(1, ts + seconds - seconds_now) * 1000
    return this.#window?.ts === ts && !this.#window.closed ? this.#window : (this.#window = this.#windowOf(this.#projectId, ts))
  }
}

class Window implements MeterReading {
  readonly project_id: string
  readonly ts: number
  closed = false
  requests = 0
  status_2xx = 0
  status_3xx = 0
  status_4xx = 0
  status_5xx = 0
  bytes_out = 0
  cache_hits = 0
  cache_misses = 0
  cache_bypass = 0
  readonly latencies = createHistogram()
  cold_starts = 0
  cold_latencies: Histogram | null = null
  last_cold_start_at: number | null = null

  constructor(projectId: string, ts: number) {
    this.project_id = projectId
    this.ts = ts
  }

  add(reading: MeterReading): void {
    for (const key of metricsCounters) this[key] += reading[key]
    this.latencies.merge(reading.latencies)
    if (reading.cold_latencies) (this.cold_latencies ??= createHistogram()).merge(reading.cold_latencies)
    this.last_cold_start_at = Math.max(this.last_cold_start_at ?? 0, reading.last_cold_start_at ?? 0) || null
  }
}
