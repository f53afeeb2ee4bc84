import type { Failure } from '../contract/deployments.ts'
import { limits } from '../contract/limits.ts'
import type { StreamEvent } from '../contract/operation.ts'
import type { Bus } from '../lib/bus.ts'
import type { Clock } from '../lib/clock.ts'
import { findDeploymentById } from '../store/deployments.ts'
import type { LogStore } from '../store/logs.ts'
import type { Db } from '../store/open.ts'
import { isTerminal } from './states.ts'

export interface FollowDeps {
  db: Db
  logs: LogStore
  bus: Bus
  clock: Clock
}

/** A runtime log's reader who has taken nothing for this long and is far behind is told so, and goes on at the end. */
const stalled_ms = 10_000

/** First the status, then all history, then live lines, then the terminal status and `end`. */
export async function* followBuild(
  deps: FollowDeps,
  deploymentId: string,
  options: { last_event_id: string | undefined; signal: AbortSignal },
): AsyncGenerator<StreamEvent> {
  const wake = listen(deps.bus, [`deployment:${deploymentId}`, `log:${deploymentId}`], options.signal)
  try {
    let at = placeOf(options.last_event_id, deploymentId)
    let said: string | undefined
    for (;;) {
      const deployment = await deps.db.read((tx) => findDeploymentById(tx, deploymentId))
      if (!deployment) return
      const ended = isTerminal(deployment.status)
      if (said === undefined || (deployment.status !== said && !ended)) yield statusEvent(deployment)
      // The status was read before the log, so that a terminal one is told after its last line.
      for (const batch of records(deps.logs, deploymentId, at)) {
        if (batch.dropped > 0) yield { event: 'lagged', data: { dropped: batch.dropped } }
        for (const record of batch.texts) {
          at = batch.first++
          yield { event: record.startsWith('{"seq"') ? 'log' : 'step', id: `${deploymentId}.${at}`, data: record }
        }
        if (options.signal.aborted) return
      }
      if (ended) {
        if (said !== undefined && said !== deployment.status) yield statusEvent(deployment)
        yield { event: 'end', data: { status: deployment.status } }
        return
      }
      said = deployment.status
      if (!(await wake.next())) return
    }
  } finally {
    wake.close()
  }
}

/** The last lines, then live, over restarts and new deployments; ends only when the reader goes. */
export async function* followRuntime(
  deps: FollowDeps,
  stream: string,
  options: { lines: number; last_event_id: string | undefined; json: boolean; signal: AbortSignal },
): AsyncGenerator<StreamEvent> {
  const wake = listen(deps.bus, [`log:${stream}`], options.signal)
  try {
    const resumed = placeOf(options.last_event_id, stream)
    let at = resumed > 0 ? resumed : deps.logs.beforeLast(stream, options.lines)
    for (;;) {
      for (const batch of records(deps.logs, stream, at)) {
        if (batch.dropped > 0) yield { event: 'lagged', data: { dropped: batch.dropped } }
        const begun = deps.clock.monotonic()
        for (const record of batch.texts) {
          at = batch.first++
          yield runtimeEvent(record, `${stream}.${at}`, options.json)
        }
        if (options.signal.aborted) return
        if (deps.clock.monotonic() - begun > stalled_ms) {
          const place = (deps.logs.tail(stream, limits.stream_backlog_bytes)[0]?.first ?? 0) - 1
          if (place > at) {
            yield { event: 'lagged', data: { dropped: place - at } }
            at = place
            break
          }
        }
      }
      if (deps.logs.after(stream, at)) continue
      if (!(await wake.next())) return
    }
  } finally {
    wake.close()
  }
}

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
  const error = deployment.error === null ? null : (JSON.parse(deployment.error) as Failure)
  return { event: 'status', data: { status: deployment.status, error, ts: deployment.finished_at ?? deployment.started_at ?? deployment.created_at } }
}

/** The record that an event id of this stream names; 0, which is all history, for a foreign or broken one. */
function placeOf(eventId: string | undefined, stream: string): number {
  const match = eventId === undefined ? null : /^(.+)\.(\d{1,15})$/.exec(eventId)
  return match?.[1] === stream ? Number(match[2]) : 0
}

/** Everything after a record, a chunk at a time, as long as there is more. */
function* records(logs: LogStore, stream: string, after: number): Generator<{ first: number; texts: string[]; dropped: number }> {
  let at = after
  for (;;) {
    const chunk = logs.after(stream, at)
    if (!chunk) return
    const skip = Math.max(0, at + 1 - chunk.first)
    const texts = chunk.body.split('\n')
    yield { first: chunk.first + skip, texts: skip > 0 ? texts.slice(skip) : texts, dropped: Math.max(0, chunk.first - at - 1) }
    at = chunk.first + chunk.records - 1
  }
}

/** Wakes a follower when one of the names is emitted; several at once are one. */
function listen(bus: Bus, names: string[], signal: AbortSignal): { next(): Promise<boolean>; close(): void } {
  let rung = false
  let waiting: ((value: boolean) => void) | undefined
  const ring = () => {
    if (waiting) waiting(!signal.aborted)
    else rung = true
    waiting = undefined
  }
  const offs = names.map((name) => bus.on(name, ring))
  signal.addEventListener('abort', ring)
  return {
    next() {
      if (signal.aborted) return Promise.resolve(false)
      if (rung) {
        rung = false
        return Promise.resolve(true)
      }
      return new Promise((resolve) => {
        waiting = resolve
      })
    },
    close() {
      for (const off of offs) off()
      signal.removeEventListener('abort', ring)
    },
  }
}
