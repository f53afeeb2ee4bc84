import type { LogEntry } from '../../lib/log.ts'
import type { CaptureCriteria } from '../capture-rule.ts'
import type { CacheInspectionRequest, DevelopmentRoute, PurgeScope, ReplicaLoad, Route, StatusPage } from '../edge.ts'
import type { ConnectionOrigin } from '../listeners.ts'
import type { MetricsBucket } from '../metrics.ts'
import type { RequestRecord } from '../request-log.ts'
import type { CachedResponse } from '../cache/cached-response.ts'

/**
 * The messages between the platform and an edge worker, over the channel of a forked process, in the order in which they were sent. They are JSON,
 * because Electron and Node have different versions of V8's own format. Bytes are Base64.
 */

/** What the edge asks of the platform's settings. Sent again when it changes. */
export interface WorkerSettings {
  is_metrics_enabled: boolean
  is_request_log_enabled: boolean
  is_https_redirect_enabled: boolean
  cache_memory_bytes: number
  cache_disk_bytes: number
}

/** What a worker starts with. One that runs already follows it. */
export interface WorkerState {
  /** Of the start of the platform whose `cache_changes` these are. */
  platform_start: string
  settings: WorkerSettings
  has_https: boolean
  https_port: number
  /** null: nothing is cached. */
  cache: { directory: string | null } | null
  probe_secret: string | undefined
  private_cookie: string | undefined
  apps_domain: string | null
  /** Of the cookies of sticky sessions, which lead to the same replica on every worker. */
  sticky_secret: string
  /** Of the limits per second of the request log. */
  request_log_share: number
  routes: [host: string, route: Route][]
  aliases: [host: string, names: readonly string[]][]
  development_routes: [host: string, route: DevelopmentRoute | StatusPage][]
  uncached_projects: string[]
  challenges: [host: string, responses: Readonly<Record<string, string>>][]
  captures: [projectId: string, criteria: CaptureCriteria][]
  /** The number of purges and invalidations of a project so far. */
  cache_changes: [projectId: string, count: number][]
}

/** What a worker is told. */
export type WorkerCommand =
  | { type: 'start'; state: WorkerState }
  | { type: 'settings'; settings: WorkerSettings }
  | { type: 'https_port'; port: number }
  /** Comes with a socket, and is answered by `accepted`. */
  | { type: 'connection'; id: number; origin: ConnectionOrigin }
  | { type: 'cut_connections'; listener: number }
  | { type: 'set_aliases'; host: string; names: readonly string[] }
  | { type: 'set_challenges'; host: string; responses: Readonly<Record<string, string>> }
  | { type: 'set_development_route'; host: string; route: DevelopmentRoute | StatusPage | null }
  /** The answer to `resolve_host`. */
  | { type: 'host_resolved'; host: string; page: StatusPage | null }
  | { type: 'set_caching'; project_id: string; is_enabled: boolean }
  | { type: 'set_capture'; project_id: string; criteria: CaptureCriteria | null }
  | { type: 'forget_metrics' | 'forget_requests'; project_id: string }
  /** From another worker. */
  | { type: 'cached'; response: CachedResponse }
  | { type: 'invalidate'; project_id: string; host: string; target: string }
  | { type: 'credentials'; id: number; certificate: string; key: string }
  | { type: 'no_credentials'; id: number; message: string; is_unknown_host: boolean }
  | { type: 'close'; grace_ms: number }
  | ({ id: number } & WorkerCall)

/** A command with a result, which the worker sends as `result` or `failed`. */
export type WorkerCall =
  /** Answered when the replaced route has no more requests. */
  | { type: 'set_route'; host: string; route: Route; drain_ms: number }
  | { type: 'remove_route'; host: string; drain_ms: number }
  | { type: 'purge'; project_id: string; scope: PurgeScope }
  | { type: 'purge_host'; project_id: string; host: string }
  | { type: 'remove_cache'; project_id: string }
  | { type: 'inspect'; request: CacheInspectionRequest }
  /** Answered after the reports of everything so far. */
  | { type: 'report_now' }

/** What a worker says. */
export type WorkerEvent =
  | { type: 'ready' }
  | { type: 'accepted'; id: number }
  | { type: 'result'; id: number; result: unknown }
  | { type: 'failed'; id: number; message: string }
  | { type: 'resolve_host'; host: string }
  | { type: 'wake'; route: Route }
  | { type: 'get_credentials'; id: number; host: string }
  | ({ type: 'log' } & LogEntry)
  | ({ type: 'report' } & WorkerReport)
  /** `cache_changes`: the state of the project's cache that the response belongs to. */
  | { type: 'cached'; response: CachedResponse; cache_changes: number }
  | { type: 'invalidated'; project_id: string; host: string; target: string }

/** Comes with a listening socket, from which a worker of this machine accepts connections itself. It answers with the same socket. */
export interface AcceptCommand {
  type: 'accept_from'
  origin: ConnectionOrigin
}
export interface AcceptEvent {
  type: 'accepts_from'
  listener: number
}

/** What happened since the last report. Many records come in several. */
export interface WorkerReport {
  metrics: EncodedBucket[]
  records: EncodedRecord[]
  last_requests: [key: string, at_ms: number][]
  /** Changes: for how long a host has been idle in milliseconds, null while it has requests. */
  idle: [host: string, idle_ms: number | null][]
  /** The load of every app with open requests or several replicas. */
  loads: [host: string, load: ReplicaLoad[]][]
  /** Open ones. */
  connections: number
  /** Changes: what is cached for a project. */
  cached: [projectId: string, stats: { objects: number; bytes: number }][]
}

export type EncodedBucket = Omit<MetricsBucket, 'latencies' | 'cold_latencies'> & { latencies: string }

export type EncodedRecord = Omit<RequestRecord, 'capture'> & { capture: EncodedCapture | null }

export interface EncodedCapture {
  masked_fields: readonly string[]
  request_headers: readonly string[]
  request_body: EncodedBody
  response_lines: string
  response_body: EncodedBody
}

export interface EncodedBody {
  parts: string[]
  is_truncated: boolean
  is_chunked: boolean
  is_ignored: boolean
}

/** How often a worker reports, in milliseconds. */
export const reportInterval_ms = 250
