import type { RequestFailure } from '../contract/requests.ts'
import { limits } from '../contract/limits.ts'
import type { Clock } from '../lib/clock.ts'
import type { CacheOutcome } from './metrics.ts'

/**
 * The request log: one record for each finished request of a project. The edge only collects; a recorder takes and stores the records every second or
 * faster. Header values other than User-Agent, and bodies, are never part of a record.
 */
export interface RequestLog {
  /** Checked once per request. */
  isEnabled(): boolean
  /** Monotonic ms. */
  now(): number
  /** Cheap enough to keep one per route. */
  forProject(projectId: string): ProjectRequestLog
  /** Returns and removes the records since the last call, in the order in which the requests ended. */
  take(): RequestRecord[]
  /** Drops the records of a deleted project and keeps nothing more of it. */
  forgetProject(projectId: string): void
}

export interface ProjectRequestLog {
  readonly project_id: string
  /** Whether another record is kept now. False counts the request as skipped. Server errors are kept for longer. */
  hasRoom(status: number): boolean
  add(record: RequestRecord): void
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
  /** Not yet shortened. */
  client_ip: string
  user_agent: string | undefined
  traceparent: string | undefined
  failure: RequestFailure | null
  /** Requests of the project that were not recorded since the previous record. */
  skipped_before: number
}

export function createRequestLog(options: { clock: Clock; isEnabled(): boolean }): RequestLog {
  const projects = new Map<string, ProjectRecords>()
  const removedProjects = new Set<string>()
  let windowStart = options.clock.monotonic()

  return {
    isEnabled: options.isEnabled,
    now: () => options.clock.monotonic(),
    forProject(projectId) {
      const existing = projects.get(projectId)
      if (existing) return existing
      const log = new ProjectRecords(projectId, removedProjects)
      projects.set(projectId, log)
      return log
    },
    take() {
      const now = options.clock.monotonic()
      const isNewWindow = now - windowStart >= 1000
      if (isNewWindow) windowStart = now
      const records: RequestRecord[] = []
      for (const log of projects.values()) log.take(records, isNewWindow)
      return records
    },
    forgetProject(projectId) {
      removedProjects.add(projectId)
      projects.delete(projectId)
    },
  }
}

class ProjectRecords implements ProjectRequestLog {
  readonly project_id: string
  readonly #removedProjects: ReadonlySet<string>
  #records: RequestRecord[] = []
  /** Records within the current second. */
  #count = 0
  #skipped = 0

  constructor(projectId: string, removedProjects: ReadonlySet<string>) {
    this.project_id = projectId
    this.#removedProjects = removedProjects
  }

  hasRoom(status: number): boolean {
    if (this.#count < (status >= 500 ? 2 * limits.request_log.per_second : limits.request_log.per_second)) return true
    this.#skipped++
    return false
  }

  add(record: RequestRecord): void {
    if (this.#removedProjects.has(this.project_id)) return
    record.skipped_before = this.#skipped
    this.#skipped = 0
    this.#count++
    this.#records.push(record)
  }

  take(into: RequestRecord[], isNewWindow: boolean): void {
    if (isNewWindow) this.#count = 0
    if (this.#records.length === 0) return
    for (const record of this.#records) into.push(record)
    this.#records = []
  }
}
