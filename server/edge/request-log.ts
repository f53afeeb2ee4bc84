import type { RequestFailure } from '../contract/requests.ts'
import { limits } from '../contract/limits.ts'
import type { Clock } from '../lib/clock.ts'
import type { CacheOutcome } from './metrics.ts'
import { type CaptureCriteria, type CaptureRule, createCaptureRule } from './capture-rule.ts'
import { CaptureBudget, RequestCapture } from './request-capture.ts'

/**
 * The request log: one record for each finished request of a project. The edge only collects; a recorder takes and stores the records every second or
 * faster. Header values other than User-Agent, and bodies, are part of a record only while requests of the project are captured.
 */
export interface EdgeRequests {
  /** Checked once per request. */
  isEnabled(): boolean
  /** Returns and removes the records since the last call, in the order in which the requests ended. */
  take(): Promise<RequestRecord[]>
  /** Captures requests of a project, from the next one on; null for none. */
  setCapture(projectId: string, criteria: CaptureCriteria | null): void
  /** Drops the records of a deleted project and keeps nothing more of it. */
  forgetProject(projectId: string): void
}

export interface RequestLog extends EdgeRequests {
  /** Monotonic ms. */
  now(): number
  /** Cheap enough to keep one per route. */
  forProject(projectId: string): ProjectRequestLog
}

export interface ProjectRequestLog {
  readonly project_id: string
  /** Whether another record is kept now. False counts the request as skipped. Server errors are kept for longer. */
  hasRoom(status: number): boolean
  add(record: RequestRecord): void
  /** Null for nearly all projects. */
  readonly captureRule: CaptureRule | null
  /** The capture of a request that begins; null if it is not captured. */
  startCapture(rule: CaptureRule, request: { method: string; target: string }): RequestCapture | null
}

/** A finished request as the edge saw it. Durations in milliseconds. */
export interface RequestRecord {
  project_id: string
  /** Contains the time at which the head was read. */
  id: string
  method: string
  host: string
  /** Path and query, as sent. */
  target: string
  protocol: string
  is_encrypted: boolean
  status: number
  duration_ms: number
  /** Waiting for a sleeping or starting app. */
  wake_ms: number
  /** From then until the request was sent to the app; null if it was not sent. */
  queue_ms: number | null
  /** From then until the response began. */
  app_ms: number | null
  transfer_ms: number
  bytes: number
  cache: CacheOutcome | null
  /** The parameters of the header `Cache-Status`. */
  cache_status: string | null
  deployment_id: string | null
  /** That the request was sent to; null for the only one, and if it was not sent. */
  replica: number | null
  /** Not yet shortened. */
  client_ip: string
  user_agent: string | undefined
  traceparent: string | undefined
  failure: RequestFailure | null
  /** Requests of the project that were not recorded since the previous record. */
  skipped_before: number
  /** Headers and bodies, not yet masked. The caller of `take` releases it. */
  capture: RequestCapture | null
}

/** What a worker always stores and captures of the limits, because all requests of a moment may come over one connection. */
const leastShare = 0.2

/** `share`: of the limits, if several workers serve the same projects. */
export function createRequestLog(options: { clock: Clock; isEnabled(): boolean; share?: number }): RequestLog {
  const share = Math.max(leastShare, options.share ?? 1)
  const projects = new Map<string, ProjectRecords>()
  const removedProjects = new Set<string>()
  const budget = new CaptureBudget()
  let takenAt = options.clock.monotonic()
  let secondStart = takenAt

  const forProject = (projectId: string): ProjectRecords => {
    const existing = projects.get(projectId)
    if (existing) return existing
    const log = new ProjectRecords(projectId, { removedProjects, budget, clock: options.clock, share })
    projects.set(projectId, log)
    return log
  }

  return {
    isEnabled: options.isEnabled,
    now: () => options.clock.monotonic(),
    forProject,
    setCapture(projectId, criteria) {
      if (!removedProjects.has(projectId)) forProject(projectId).captureRule = criteria && createCaptureRule(criteria)
    },
    async take() {
      const now = options.clock.monotonic()
      const isNewSecond = now - secondStart >= 1000
      if (isNewSecond) secondStart = now
      const records: RequestRecord[] = []
      for (const log of projects.values()) log.take(records, (now - takenAt) / 1000, isNewSecond)
      takenAt = now
      return records
    },
    forgetProject(projectId) {
      removedProjects.add(projectId)
      projects.get(projectId)?.clear()
      projects.delete(projectId)
    },
  }
}

interface SharedState {
  removedProjects: ReadonlySet<string>
  budget: CaptureBudget
  clock: Clock
  share: number
}

class ProjectRecords implements ProjectRequestLog {
  readonly project_id: string
  captureRule: CaptureRule | null = null
  readonly #shared: SharedState
  readonly #maxCaptures: number
  #records: RequestRecord[] = []
  /** How many requests may be recorded now, and how many server errors beyond them. */
  #allowance: number
  #errorAllowance: number
  /** Captures started within the current second. */
  #captureCount = 0
  #skipped = 0

  constructor(projectId: string, shared: SharedState) {
    this.project_id = projectId
    this.#shared = shared
    this.#allowance = this.#errorAllowance = limits.request_log.burst * shared.share
    this.#maxCaptures = limits.request_capture.per_second * shared.share
  }

  hasRoom(status: number): boolean {
    if (this.#allowance >= 1 || (status >= 500 && this.#errorAllowance >= 1)) return true
    this.#skipped++
    return false
  }

  add(record: RequestRecord): void {
    if (this.#shared.removedProjects.has(this.project_id)) return record.capture?.release()
    record.skipped_before = this.#skipped
    this.#skipped = 0
    if (this.#allowance >= 1) this.#allowance--
    else this.#errorAllowance--
    this.#records.push(record)
  }

  startCapture(rule: CaptureRule, request: { method: string; target: string }): RequestCapture | null {
    if (this.#captureCount >= this.#maxCaptures || this.#allowance < 1) return null
    if (this.#shared.clock.now() >= rule.until_ms) {
      this.captureRule = null
      return null
    }
    if (!rule.matchesRequest(request)) return null
    this.#captureCount++
    return new RequestCapture(rule, this.#shared.budget)
  }

  take(into: RequestRecord[], elapsed_s: number, isNewSecond: boolean): void {
    const { per_second, burst } = limits.request_log
    const refill = (allowance: number): number => Math.min(burst * this.#shared.share, allowance + elapsed_s * per_second * this.#shared.share)
    this.#allowance = refill(this.#allowance)
    this.#errorAllowance = refill(this.#errorAllowance)
    if (isNewSecond) this.#captureCount = 0
    if (this.#records.length === 0) return
    for (const record of this.#records) into.push(record)
    this.#records = []
  }

  /** The project was deleted. */
  clear(): void {
    for (const { capture } of this.#records) capture?.release()
    this.#records = []
    this.captureRule = null
  }
}
