import type { DeploymentFailure } from '../contract/deployments.ts'
import { limits } from '../contract/limits.ts'
import type { StreamEvent } from '../contract/operation.ts'
import type { DomainEvent } from '../contract/domain-events.ts'
import type { EventBus } from '../lib/event-bus.ts'
import type { Clock } from '../lib/clock.ts'
import { findDeploymentById } from '../store/deployments.ts'
import type { LogStore } from '../store/log-store.ts'
import type { Db } from '../store/store.ts'
import { isTerminal } from './status-transitions.ts'

export interface LogStreamContext {
  db: Db
  logs: LogStore
  events: EventBus<DomainEvent>
  clock: Clock
}

/** A reader that stalls for this long and is far behind gets a `lagged` event and resumes at the end. */
const stalledReader_ms = 10_000

/** Sends the status, then all history, then live lines, then the terminal status and `end`. */
export async function* followBuildLog(
  context: LogStreamContext,
  deploymentId: string,
  options: { last_event_id: string | undefined; signal: AbortSignal },
): AsyncGenerator<StreamEvent> {
  const changes = createChangeWaiter(
    context.events,
    [
      { type: 'deployment_changed', id: deploymentId },
      { type: 'log_appended', id: deploymentId },
    ],
    options.signal,
  )
  try {
    let at = parseEventId(options.last_event_id, deploymentId)
    let sentStatus: string | undefined
    for (;;) {
      const deployment = await context.db.read((tx) => findDeploymentById(tx, deploymentId))
      if (!deployment) return
      const ended = isTerminal(deployment.status)
      if (sentStatus === undefined || (deployment.status !== sentStatus && !ended)) yield statusEvent(deployment)
      // The status was read before the log, so that a terminal status is sent after the last line.
      for (const batch of readRecords(context.logs, deploymentId, at)) {
        if (batch.dropped > 0) yield { event: 'lagged', data: { dropped: batch.dropped } }
        for (const record of batch.texts) {
          at = batch.first++
          yield { event: record.startsWith('{"seq"') ? 'log' : 'step', id: `${deploymentId}.${at}`, data: record }
        }
        if (options.signal.aborted) return
      }
      if (ended) {
        if (sentStatus !== undefined && sentStatus !== deployment.status) yield statusEvent(deployment)
        yield { event: 'end', data: { status: deployment.status } }
        return
      }
      sentStatus = deployment.status
      if (!(await changes.next())) return
    }
  } finally {
    changes.close()
  }
}

/** Sends the last lines, then live lines across restarts and new deployments; ends only when the reader disconnects. */
export async function* followRuntimeLog(
  context: LogStreamContext,
  stream: string,
  options: { lines: number; last_event_id: string | undefined; json: boolean; replica?: number | undefined; signal: AbortSignal },
): AsyncGenerator<StreamEvent> {
  const changes = createChangeWaiter(context.events, [{ type: 'log_appended', id: stream }], options.signal)
  try {
    const resumeAfter = parseEventId(options.last_event_id, stream)
    let at = resumeAfter > 0 ? resumeAfter : context.logs.positionBeforeLast(stream, options.lines)
    for (;;) {
      for (const batch of readRecords(context.logs, stream, at)) {
        if (batch.dropped > 0) yield { event: 'lagged', data: { dropped: batch.dropped } }
        const startedAt = context.clock.monotonic()
        for (const record of batch.texts) {
          at = batch.first++
          if (options.replica !== undefined && readReplica(record) !== options.replica) continue
          yield runtimeEvent(record, `${stream}.${at}`, options.json)
        }
        if (options.signal.aborted) return
        if (context.clock.monotonic() - startedAt > stalledReader_ms) {
          const tailStart = (context.logs.readTail(stream, limits.stream_backlog_bytes)[0]?.first ?? 0) - 1
          if (tailStart > at) {
            yield { event: 'lagged', data: { dropped: tailStart - at } }
            at = tailStart
            break
          }
        }
      }
      if (context.logs.readAfter(stream, at)) continue
      if (!(await changes.next())) return
    }
  } finally {
    changes.close()
  }
}

const readReplica = (record: string): number => (record.includes('"replica":') ? ((JSON.parse(record) as { replica?: number }).replica ?? 1) : 1)

function runtimeEvent(record: string, id: string, json: boolean): StreamEvent {
  if (!record.startsWith('{"seq"')) return { event: 'state', id, data: record }
  return json ? { event: 'log', id, data: record } : { id, data: (JSON.parse(record) as { line: string }).line }
}

function statusEvent(deployment: {
  status: string
  error: string | null
  finished_at: string | null
  started_at: string | null
  created_at: string
}): StreamEvent {
  const error = deployment.error === null ? null : (JSON.parse(deployment.error) as DeploymentFailure)
  return { event: 'status', data: { status: deployment.status, error, ts: deployment.finished_at ?? deployment.started_at ?? deployment.created_at } }
}

/** The record of an event id of this stream; 0 (all history) for an invalid id or an id of another stream. */
function parseEventId(eventId: string | undefined, stream: string): number {
  const match = eventId === undefined ? null : /^(.+)\.(\d{1,15})$/.exec(eventId)
  return match?.[1] === stream ? Number(match[2]) : 0
}

/** All records after a given one, in chunks. */
function* readRecords(logs: LogStore, stream: string, after: number): Generator<{ first: number; texts: string[]; dropped: number }> {
  let at = after
  for (;;) {
    const chunk = logs.readAfter(stream, at)
    if (!chunk) return
    const skip = Math.max(0, at + 1 - chunk.first)
    const texts = chunk.body.split('\n')
    yield { first: chunk.first + skip, texts: skip > 0 ? texts.slice(skip) : texts, dropped: Math.max(0, chunk.first - at - 1) }
    at = chunk.first + chunk.records - 1
  }
}

/** Wakes a follower when one of the events is published; several at once are one. */
function createChangeWaiter(bus: EventBus<DomainEvent>, events: DomainEvent[], signal: AbortSignal): { next(): Promise<boolean>; close(): void } {
  let hasChanged = false
  let resolveNext: ((value: boolean) => void) | undefined
  const signalChange = () => {
    if (resolveNext) resolveNext(!signal.aborted)
    else hasChanged = true
    resolveNext = undefined
  }
  const unsubscribes = events.map((event) => bus.subscribeTo(event, signalChange))
  signal.addEventListener('abort', signalChange)
  return {
    next() {
      if (signal.aborted) return Promise.resolve(false)
      if (hasChanged) {
        hasChanged = false
        return Promise.resolve(true)
      }
      return new Promise((resolve) => {
        resolveNext = resolve
      })
    },
    close() {
      for (const unsubscribe of unsubscribes) unsubscribe()
      signal.removeEventListener('abort', signalChange)
    },
  }
}
