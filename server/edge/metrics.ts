import { historyBuckets, metricsBuckets, metricsCounters } from '../contract/metrics-ranges.ts'
import type { Clock } from '../lib/clock.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'

/** The cache's result for a request; null for status pages of the edge. A stale response counts as a hit. */
export type CacheOutcome = 'hit' | 'stale' | 'miss' | 'bypass'

/** Counts the requests of each project. The collector only counts; the recorder takes and stores the readings periodically. */
export interface MetricsCollector {
  /** Never waits. Cheap enough to keep one per route. */
  forProject(projectId: string): ProjectMetrics
  /** Monotonic ms; -1 while metrics are disabled. */
  now(): number
  recordColdStart(projectId: string, ms: number): void
  /** Projects that received a request since their last reading. */
  listActiveProjects(): string[]
  /** Returns and resets what was counted since the last call, for one project or for all. */
  take(projectId?: string): MetricsBucket[]
  /** Takes back readings that could not be stored. */
  restore(buckets: readonly MetricsBucket[]): void
  /** Drops the counts of a deleted project and counts nothing more for it. */
  forgetProject(projectId: string): void
}

export interface ProjectMetrics {
  /** Counts a request when its response begins, at the monotonic time `at`, `ms` after its head was read. */
  recordResponse(status: number, at: number, ms: number, cache: CacheOutcome | null): void
  /** Counts bytes of the response body. */
  recordBytes(bytes: number): void
}

/** The counts of one project within ten seconds. Several buckets of the same time are to be added up. */
export interface MetricsBucket {
  project_id: string
  /** Start of the ten seconds: seconds since 1970. */
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
  /** null without a cold start, which is the usual case. */
  cold_latencies: Histogram | null
  /** Milliseconds since 1970. */
  last_cold_start_at: number | null
}

const { seconds: bucket_s } = historyBuckets.live
/** Windows of a project in memory. While they cannot be stored, those above this number are merged into quarters of an hour. */
const maxFinishedWindows = 30

export function createMetricsCollector(options: { clock: Clock; isEnabled(): boolean }): MetricsCollector {
  const { clock } = options
  /** Current windows by project; only projects with requests since the last `take`. */
  const windows = new Map<string, MetricsWindow>()
  /** Windows whose time ended before they were taken, or that could not be stored. */
  const finishedWindows = new Map<string, MetricsWindow[]>()

  /** Requests still open for deleted projects are not counted, because their counts would never be freed. */
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
    const existing = older.find((other) => other.ts === window.ts)
    if (existing) existing.merge(window)
    else older.push(window)
    finishedWindows.set(window.project_id, older.length > maxFinishedWindows ? mergeIntoQuarters(older) : older)
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

  const currentTime = (): number => Math.floor(clock.now() / 1000 / bucket_s) * bucket_s

  return {
    forProject: (projectId) => new ProjectCounter(projectId, clock, windowOf),
    now: () => (options.isEnabled() ? clock.monotonic() : -1),
    recordColdStart(projectId, ms) {
      if (!options.isEnabled()) return
      const window = windowOf(projectId, currentTime())
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
  /** Until this monotonic time the window is current without checking the wall clock. */
  #windowValidUntil = 0

  constructor(projectId: string, clock: Clock, windowOf: (projectId: string, ts: number) => MetricsWindow) {
    this.#projectId = projectId
    this.#clock = clock
    this.#windowOf = windowOf
  }

  recordResponse(status: number, at: number, ms: number, cache: CacheOutcome | null): void {
    const window = this.#currentWindow(at)
    window.requests++
    // A WebSocket has status 101, which belongs to no class of the contract.
    if (status >= 500) window.status_5xx++
    else if (status >= 400) window.status_4xx++
    else if (status >= 300) window.status_3xx++
    else if (status >= 200) window.status_2xx++
    if (cache === 'hit' || cache === 'stale') window.cache_hits++
    else if (cache === 'miss') window.cache_misses++
    else if (cache === 'bypass') window.cache_bypass++
    window.latencies.add(ms)
  }

  recordBytes(bytes: number): void {
    // Skips the clock: the window of an open response was checked recently, because readings are taken every few seconds.
    const window = this.#window
    if (window !== null && !window.isClosed) window.bytes_out += bytes
    else this.#currentWindow(this.#clock.monotonic()).bytes_out += bytes
  }

  #currentWindow(at: number): MetricsWindow {
    if (at < this.#windowValidUntil && this.#window?.isClosed === false) return this.#window
    const seconds_now = this.#clock.now() / 1000
    const ts = Math.floor(seconds_now / bucket_s) * bucket_s
    // The validity is at most one second, because the wall clock may be set.
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

function mergeIntoQuarters(windows: readonly MetricsWindow[]): MetricsWindow[] {
  const { seconds } = metricsBuckets['24h']
  const quarters = new Map<number, MetricsWindow>()
  for (const window of windows) {
    const ts = Math.floor(window.ts / seconds) * seconds
    const quarter = quarters.get(ts) ?? new MetricsWindow(window.project_id, ts)
    quarters.set(ts, quarter)
    quarter.merge(window)
    quarter.isClosed = true
  }
  return [...quarters.values()]
}
