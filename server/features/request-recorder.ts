import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { limits } from '../contract/limits.ts'
import type { EdgeRequests, RequestRecord } from '../edge/request-log.ts'
import { truncateClientIp } from '../lib/client-ip.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createFieldMask, maskForm } from '../lib/field-mask.ts'
import { maskQuery } from '../lib/query-mask.ts'
import { parseTraceParent, timeOfId } from '../lib/trace-context.ts'
import type { NewRequestRow, RequestStore } from '../store/request-store.ts'
import type { Sealer } from '../store/sealer.ts'
import { captureEncryptionContext } from './capture-rules.ts'
import { maskCapture } from './mask-capture.ts'

/** Stores the requests that the edge has seen, every second, or ten times a second while somebody follows them. */
export interface RequestRecorder {
  isEnabled(): boolean
  /** Stores what the edge has seen so far, so that a query finds it. */
  flush(): Promise<void>
  /** Calls `onStored` after new requests were stored. Returns a function that unsubscribes. */
  follow(onStored: () => void): () => void
  /** Stores the last requests and stops. */
  close(): Promise<void>
}

/** Maximum time of requests lost in a crash, and the delay of those who follow. */
const flushInterval_ms = 1_000
const followInterval_ms = 100
const expireInterval_ms = 60_000
/** Rows per transaction, which blocks the event loop for some milliseconds. */
const batchSize = 500
/** Captures that are masked and encrypted at once. */
const captureBatchSize = 10

export function createRequestRecorder(options: {
  edge: EdgeRequests
  store: RequestStore
  /** Encrypts what is captured. */
  sealer: Pick<Sealer, 'seal'>
  clock: Clock
  log: Log
  /** The greatest size of the file. */
  total_bytes?: number
}): RequestRecorder {
  const { edge, store, sealer, clock, log, total_bytes = limits.request_log.total_bytes } = options
  const followers = new Set<() => void>()
  let expiredAt_ms = -Infinity
  let expiring: Promise<void> | undefined
  let isClosed = false
  let hasWarned = false

  const write = async (rows: readonly NewRequestRow[]): Promise<void> => {
    try {
      await store.add(rows)
      hasWarned = false
    } catch (error) {
      // A log is no reason to use ever more memory, so what cannot be stored is dropped.
      if (!hasWarned) log.warn('request_log_store_failed', { error })
      hasWarned = true
    }
  }

  /** A request that cannot be masked or encrypted is stored without its headers and bodies. */
  const sealCapture = async ({ id, capture }: RequestRecord): Promise<Uint8Array | null> => {
    if (capture === null) return null
    try {
      return sealer.seal(captureEncryptionContext(id), JSON.stringify(await maskCapture(capture)))
    } catch (error) {
      log.warn('request_capture_failed', { error })
      return null
    } finally {
      capture.release()
    }
  }

  const storeTaken = async (): Promise<void> => {
    const records = await edge.take()
    for (let at = 0; at < records.length; at += batchSize) {
      if (at > 0) await yieldToEventLoop()
      const rows: NewRequestRow[] = []
      let captured = 0
      for (const record of records.slice(at, at + batchSize)) {
        rows.push({ ...toRow(record), sealed_exchange: record.capture === null ? null : await sealCapture(record) })
        if (record.capture !== null && ++captured % captureBatchSize === 0) await yieldToEventLoop()
      }
      await write(rows)
    }
    if (records.length > 0) for (const onStored of followers) onStored()
  }
  /** One after the other, so that requests are stored in their order. */
  let storing: Promise<void> = Promise.resolve()
  const flush = (): Promise<void> => (storing = storing.then(storeTaken))

  const expire = async (): Promise<void> => {
    expiredAt_ms = clock.monotonic()
    const before_ms = clock.now() - limits.request_log.days * 86_400_000
    try {
      let project: number | undefined = 0
      while (!isClosed && (project = store.expire(before_ms, project, batchSize)) !== undefined) await yieldToEventLoop()
    } catch (error) {
      log.warn('request_log_expire_failed', { error })
    }
  }

  const trim = async (): Promise<void> => {
    try {
      while (!isClosed && store.trim(total_bytes, batchSize)) await yieldToEventLoop()
    } catch (error) {
      log.warn('request_log_trim_failed', { error })
    }
  }

  let timer: Timer | undefined
  const schedule = (): void => {
    timer?.cancel()
    timer = clock.setTimeout(() => void runCycle(), followers.size > 0 ? followInterval_ms : flushInterval_ms).unref()
  }
  const runCycle = async (): Promise<void> => {
    await flush()
    await trim()
    if (expiring === undefined && clock.monotonic() - expiredAt_ms >= expireInterval_ms) expiring = expire().finally(() => (expiring = undefined))
    if (!isClosed) schedule()
  }
  schedule()

  return {
    isEnabled: edge.isEnabled,
    flush,
    follow(onStored) {
      followers.add(onStored)
      if (followers.size === 1) schedule()
      return () => void followers.delete(onStored)
    },
    async close() {
      isClosed = true
      timer?.cancel()
      await expiring
      await flush()
    },
  }
}

function toRow({ capture, ...record }: RequestRecord): NewRequestRow {
  const { request_log } = limits
  const { target, duration_ms, wake_ms, queue_ms, app_ms, transfer_ms, traceparent, user_agent, client_ip, is_encrypted, failure, ...rest } = record
  const question = target.indexOf('?')
  return {
    ...rest,
    time: timeOfId(record.id),
    path: (question < 0 ? target : target.slice(0, question)).slice(0, request_log.path),
    query: question < 0 ? null : maskTargetQuery(target.slice(question + 1), capture).slice(0, request_log.query),
    is_encrypted: is_encrypted ? 1 : 0,
    duration_ms: round(duration_ms),
    wake_ms: round(wake_ms),
    queue_ms: queue_ms === null ? null : round(queue_ms),
    app_ms: app_ms === null ? null : round(app_ms),
    transfer_ms: round(transfer_ms),
    client_ip: truncateClientIp(client_ip),
    user_agent: user_agent?.slice(0, request_log.user_agent) ?? null,
    trace_id: parseTraceParent(traceparent)?.trace_id ?? null,
    failure: failure ?? (isFromCrashedApp(record) ? 'crashed' : null),
  }
}

/** Of the responses that no app and no cache gave, only the page of a crashed app is a 502 without a failure of the connection. */
const isFromCrashedApp = ({ status, queue_ms, cache_status }: Pick<RequestRecord, 'status' | 'queue_ms' | 'cache_status'>): boolean =>
  status === 502 && queue_ms === null && cache_status === null

const maskTargetQuery = (query: string, capture: RequestRecord['capture']): string =>
  capture === null ? maskQuery(query) : maskForm(maskQuery(query), createFieldMask(capture.rule.masked_fields))

const round = (ms: number): number => Math.max(0, Math.round(ms * 100) / 100)
