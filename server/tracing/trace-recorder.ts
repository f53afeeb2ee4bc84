import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { limits } from '../contract/limits.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { NewSpan, TraceStore } from '../store/trace-store.ts'

const { tracing } = limits
const flushInterval_ms = 1_000
const expireInterval_ms = 60_000
/** Spans per transaction, which blocks the event loop for some milliseconds. */
const batchSize = 500

interface PendingSpans {
  spans: NewSpan[]
  dropped: number
  /** How many spans, and bytes of requests, the project may send now. */
  span_allowance: number
  byte_allowance: number
  refilled_at: number
}

export type TraceRecorder = ReturnType<typeof createTraceRecorder>

/** Collects the spans of each project within its limits, and stores them every second. */
export function createTraceRecorder({ store, clock, log }: { store: TraceStore; clock: Clock; log: Log }) {
  const projects = new Map<string, PendingSpans>()
  let hasWarned = false
  let isClosed = false
  let expiredAt_ms = -Infinity

  const open = (projectId: string): PendingSpans => {
    const now = clock.monotonic()
    const full = { span_allowance: tracing.burst, byte_allowance: tracing.body_bytes_per_second }
    const project = projects.get(projectId) ?? { spans: [], dropped: 0, ...full, refilled_at: now }
    projects.set(projectId, project)
    const elapsed_s = (now - project.refilled_at) / 1000
    project.span_allowance = Math.min(full.span_allowance, project.span_allowance + elapsed_s * tracing.per_second)
    project.byte_allowance = Math.min(full.byte_allowance, project.byte_allowance + elapsed_s * tracing.body_bytes_per_second)
    project.refilled_at = now
    return project
  }

  const write = async (projectId: string, spans: NewSpan[], dropped: number): Promise<void> => {
    try {
      await store.add(projectId, spans, dropped)
      hasWarned = false
    } catch (error) {
      // Spans that cannot be stored are dropped, because otherwise they would use ever more memory.
      if (!hasWarned) log.warn('trace_store_failed', { project: projectId, error })
      hasWarned = true
    }
  }

  const storePending = async (): Promise<void> => {
    for (const [projectId, project] of projects) {
      const { spans, dropped } = project
      project.spans = []
      project.dropped = 0
      if (dropped > 0 && spans.length === 0) await write(projectId, [], dropped)
      for (let at = 0; at < spans.length; at += batchSize) {
        await write(projectId, spans.slice(at, at + batchSize), at === 0 ? dropped : 0)
        await yieldToEventLoop()
      }
    }
  }
  let storing: Promise<void> = Promise.resolve()
  const flush = (): Promise<void> => (storing = storing.then(storePending))

  const expire = async (): Promise<void> => {
    expiredAt_ms = clock.monotonic()
    const before_ms = clock.now() - tracing.days * 86_400_000
    try {
      let project: number | undefined = 0
      while (!isClosed && (project = store.expire(before_ms, project, batchSize)) !== undefined) await yieldToEventLoop()
    } catch (error) {
      log.warn('trace_expire_failed', { error })
    }
  }

  let timer: Timer | undefined
  let cycle: Promise<void> = Promise.resolve()
  const runCycle = async (): Promise<void> => {
    await flush()
    if (clock.monotonic() - expiredAt_ms >= expireInterval_ms) await expire()
    if (!isClosed) schedule()
  }
  const schedule = (): void => {
    timer = clock.setTimeout(() => (cycle = runCycle()), flushInterval_ms).unref()
  }
  schedule()

  return {
    flush,

    /** Whether a project may send this many bytes now. */
    takeBytes(projectId: string, bytes: number): boolean {
      const project = open(projectId)
      if (project.byte_allowance < bytes) return false
      project.byte_allowance -= bytes
      return true
    },

    /** Adds spans as far as the project may send them now. Returns how many were dropped. */
    add(projectId: string, spans: readonly NewSpan[], invalid: number): number {
      const project = open(projectId)
      const kept = Math.min(spans.length, Math.floor(project.span_allowance))
      for (let i = 0; i < kept; i++) project.spans.push(spans[i] as NewSpan)
      project.span_allowance -= kept
      const dropped = spans.length - kept + invalid
      project.dropped += dropped
      return dropped
    },

    /** Deletes what is known of a project. */
    async forgetProject(projectId: string): Promise<void> {
      projects.delete(projectId)
      await storing
      while (store.remove(projectId, batchSize)) await yieldToEventLoop()
    },

    async close(): Promise<void> {
      isClosed = true
      timer?.cancel()
      await cycle
      await flush()
    },
  }
}
