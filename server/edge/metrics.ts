import { metricsBuckets, metricsCounters } from '../contract/metrics.ts'
import type { Clock } from '../lib/clock.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'

/** What the cache was for a request; null where it has no say (pages of ours). An answer that is stale counts as a hit. */
export type CacheOutcome = 'hit' | 'miss' | 'bypass'

/** Counts what is asked of the projects. It only counts: somebody takes the readings from time to time and keeps them. */
export interface MetricsCollector {
  /** Never waits, and is cheap to hold: one for each route that stands. */
  forProject(projectId: string): ProjectMetrics
  /** Monotonic ms; -1 while nothing is to be counted. */
  now(): number
  recordColdStart(projectId: string, ms: number): void
  /** Those that were asked for something since they were taken. */
  listActiveProjects(): string[]
  /** Hands over what was counted since the last call, of one project or of all. */
  take(projectId?: string): MetricsBucket[]
  /** Takes readings back that could not be kept. */
  restore(buckets: readonly MetricsBucket[]): void
  /** Drops what was counted of a project that is gone for good, and counts nothing more of it. */
  forgetProject(projectId: string): void
}

export interface ProjectMetrics {
  /** A request, once its answer begins: at the monotonic moment `at`, so many ms after its head was read. */
  recordResponse(status: number, at: number, ms: number, cache: CacheOutcome | null): void
  /** More of its body. */
  recordBytes(bytes: number): void
}

/** One project within one quarter of an hour; there may be several of the same, to be added up. */
export interface MetricsBucket {
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

const { seconds: bucket_s } = metricsBuckets['24h']
/** The client left before there was an answer; the number that nginx made known. */
const clientClosedRequest = 499

/** What a visit tells the meter, request after request. Everything but `begin` may come too often or too late. */
export class RequestMetrics {
  readonly #collector: MetricsCollector
  #project: ProjectMetrics | null = null
  #cache: CacheOutcome | null = null
  #started_at = -1
  #isRecorded = true

  constructor(collector: MetricsCollector) {
    this.#collector = collector
  }

  /** The head of a request was read. */
  start(): void {
    this.#started_at = this.#collector.now()
    this.#isRecorded = this.#started_at < 0
    this.#project = null
  }

  /** Whom it is for; without this it is not counted. */
  setProject(project: ProjectMetrics, cache: CacheOutcome | null): void {
    this.#project = project
    this.#cache = cache
  }

  /** What the cache came to be for it. */
  setCacheOutcome(cache: CacheOutcome): void {
    this.#cache = cache
  }

  /** Its answer begins. */
  recordStatus(status: number): void {
    if (this.#isRecorded || this.#project === null) return
    this.#isRecorded = true
    const now = this.#collector.now()
    if (now >= 0) this.#project.recordResponse(status, now, now - this.#started_at, this.#cache)
  }

  recordBytes(bytes: number): void {
    if (this.#started_at >= 0 && this.#project !== null) this.#project.recordBytes(bytes)
  }

  /** The client is gone. */
  recordClientClosed(): void {
    this.recordStatus(clientClosedRequest)
  }
}

export function createMetricsCollector(options: { clock: Clock; isEnabled(): boolean }): MetricsCollector {
  const { clock } = options
  /** What is counted now, by project; only those that were asked since the last `take`. */
  const windows = new Map<string, MetricsWindow>()
  /** Quarters that ended before they were taken, or could not be kept: of each project and quarter one at most. */
  const finishedWindows = new Map<string, MetricsWindow[]>()

  /** What still flows for them is not counted: nothing of it would ever be freed. */
  const removedProjects = new Set<string>()

  const windowOf = (projectId: string, ts: number): MetricsWindow => {
    if (removedProjects.has(projectId)) return new MetricsWindow(projectId, ts)
    const now = windows.get(projectId)
    if (now?.ts === ts) return now
    if (now) closeWindow(now)
    const next = new MetricsWindow(projectId, ts)
    windows.set(projectId, next)
    return next
  }

  const addFinished = (window: MetricsWindow): void => {
    window.isClosed = true
    const older = finishedWindows.get(window.project_id) ?? []
    const existing = older.find((one) => one.ts === window.ts)
    if (existing) existing.merge(window)
    else older.push(window)
    finishedWindows.set(window.project_id, older)
  }

  const closeWindow = (window: MetricsWindow): void => {
    windows.delete(window.project_id)
    addFinished(window)
  }

  const takeProject = (projectId: string): MetricsBucket[] => {
    const now = windows.get(projectId)
    if (now) closeWindow(now)
    const finished = finishedWindows.get(projectId) ?? []
    finishedWindows.delete(projectId)
    return finished
  }

  const projects = (): string[] => [...new Set([...windows.keys(), ...finishedWindows.keys()])]

  const currentQuarter = (): number => Math.floor(clock.now() / 1000 / bucket_s) * bucket_s

  return {
    forProject: (projectId) => new ProjectCounter(projectId, clock, windowOf),
    now: () => (options.isEnabled() ? clock.monotonic() : -1),
    recordColdStart(projectId, ms) {
      if (!options.isEnabled()) return
      const window = windowOf(projectId, currentQuarter())
      window.cold_starts++
      window.cold_latencies ??= createHistogram()
      window.cold_latencies.add(ms)
      window.last_cold_start_at = clock.now()
    },
    listActiveProjects: projects,
    take: (projectId) => (projectId === undefined ? projects().flatMap(takeProject) : takeProject(projectId)),
    restore(buckets) {
      for (const bucket of buckets) {
        const window = new MetricsWindow(bucket.project_id, bucket.ts)
        window.merge(bucket)
        addFinished(window)
      }
    },
    forgetProject(projectId) {
      takeProject(projectId)
      removedProjects.add(projectId)
    },
  }
}

class ProjectCounter implements ProjectMetrics {
  readonly #projectId: string
  readonly #clock: Clock
  readonly #windowOf: (projectId: string, ts: number) => MetricsWindow
  #window: MetricsWindow | null = null
  /** Until this monotonic moment the window needs no look at the wall clock. */
  #windowValidUntil = 0

  constructor(projectId: string, clock: Clock, windowOf: (projectId: string, ts: number) => MetricsWindow) {
    this.#projectId = projectId
    this.#clock = clock
    this.#windowOf = windowOf
  }

  recordResponse(status: number, at: number, ms: number, cache: CacheOutcome | null): void {
    const window = this.#currentWindow(at)
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

  recordBytes(bytes: number): void {
    // Without a look at the clock: what stands open was looked at a moment ago, as readings are taken every few seconds.
    const window = this.#window
    if (window !== null && !window.isClosed) window.bytes_out += bytes
    else this.#currentWindow(this.#clock.monotonic()).bytes_out += bytes
  }

  #currentWindow(at: number): MetricsWindow {
    if (at < this.#windowValidUntil && this.#window?.isClosed === false) return this.#window
    const seconds_now = this.#clock.now() / 1000
    const ts = Math.floor(seconds_now / bucket_s) * bucket_s
    // The wall clock may be set.
    this.#windowValidUntil = at + Math.min(1, ts + bucket_s - seconds_now) * 1000
    return this.#window?.ts === ts && !this.#window.isClosed ? this.#window : (this.#window = this.#windowOf(this.#projectId, ts))
  }
}

class MetricsWindow implements MetricsBucket {
  readonly project_id: string
  readonly ts: number
  isClosed = false
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

  merge(bucket: MetricsBucket): void {
    for (const key of metricsCounters) this[key] += bucket[key]
    this.latencies.merge(bucket.latencies)
    if (bucket.cold_latencies) (this.cold_latencies ??= createHistogram()).merge(bucket.cold_latencies)
    this.last_cold_start_at = Math.max(this.last_cold_start_at ?? 0, bucket.last_cold_start_at ?? 0) || null
  }
}
