import type { ApiError } from '../../server/client/api-error.ts'
import { followEvents } from '../../server/client/follow-events.ts'
import { unreachableError } from '../lib/api-error.ts'

/**
 * Connection state of a stream. `refused`: the platform rejects the stream permanently (deleted, forbidden, unsupported), so there are no retries.
 */
export type StreamState = { name: 'connecting' | 'open' | 'ended' } | { name: 'waiting'; problem: ApiError } | { name: 'refused'; problem: ApiError }

export interface StreamHandlers<Event> {
  /** Delivers all events of one network chunk together, so that a burst causes one render. */
  onEvents(events: Event[]): void
  onState(state: StreamState): void
}

export interface StreamOptions {
  signal: AbortSignal
  /** An event of this name ends the stream; it is not reopened. */
  end_event?: string
  /** Pauses while the tab is hidden, because a browser allows six HTTP/1.1 connections per host across all tabs. */
  pauses_when_hidden?: boolean
}

const initialDelay_ms = 500
const maxDelay_ms = 15_000
// The platform sends a comment every 15 s. The connection counts as dead after three missing ones.
const silence_ms = 45_000
// Grace period for a briefly hidden tab.
const hiddenDelay_ms = 5_000

/** Follows a stream, backs off between attempts, and retries at once when the network or the tab returns. */
export async function followEventStream<Event>(
  openStream: (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>,
  handlers: StreamHandlers<Event>,
  { signal, end_event, pauses_when_hidden = false }: StreamOptions,
): Promise<void> {
  let visibility: ReturnType<typeof abortWhenHidden> | null = null
  const batches = followEvents({
    open(lastEventId, attempt) {
      handlers.onState({ name: 'connecting' })
      const paused = new AbortController()
      visibility = pauses_when_hidden ? abortWhenHidden(paused) : null
      return openStream(
        { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
        AbortSignal.any([attempt, paused.signal]),
      )
    },
    signal,
    end_event,
    silence_ms,
    onOpen: () => handlers.onState({ name: 'open' }),
    async retry(error, failures) {
      visibility?.stop()
      if (visibility?.wasPaused()) {
        await waitUntilVisible(signal)
        return true
      }
      const problem = error ?? unreachableError(undefined)
      if (isPermanent(problem)) {
        handlers.onState({ name: 'refused', problem })
        return false
      }
      handlers.onState({ name: 'waiting', problem })
      const delay = Math.min(maxDelay_ms, initialDelay_ms * 2 ** (failures - 1)) * (0.75 + Math.random() / 2)
      await waitForRetry(Math.max(delay, (problem.retry_after_s ?? 0) * 1000), signal)
      return true
    },
  })
  for await (const events of batches) {
    handlers.onEvents(events.map(({ event = 'message', id = null, data }) => ({ event, id, data: JSON.parse(data) }) as Event))
    if (end_event !== undefined && events.some(({ event }) => event === end_event)) handlers.onState({ name: 'ended' })
  }
  ;(visibility as ReturnType<typeof abortWhenHidden> | null)?.stop()
}

const isPermanent = ({ code, status }: ApiError): boolean => code !== 'unreachable' && status < 500 && status !== 429 && status !== 408

/** Aborts an attempt after the tab has been hidden for a while. */
function abortWhenHidden(attempt: AbortController): { wasPaused(): boolean; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let wasPaused = false
  const onVisibilityChange = () => {
    clearTimeout(timer)
    if (document.visibilityState === 'visible') return
    timer = setTimeout(() => {
      wasPaused = true
      attempt.abort()
    }, hiddenDelay_ms)
  }
  onVisibilityChange()
  document.addEventListener('visibilitychange', onVisibilityChange)
  return {
    wasPaused: () => wasPaused,
    stop() {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisibilityChange)
    },
  }
}

function waitUntilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const onVisibilityChange = () => {
      if (document.visibilityState !== 'visible' && !signal.aborted) return
      document.removeEventListener('visibilitychange', onVisibilityChange)
      signal.removeEventListener('abort', onVisibilityChange)
      resolve()
    }
    document.addEventListener('visibilitychange', onVisibilityChange)
    signal.addEventListener('abort', onVisibilityChange)
    onVisibilityChange()
  })
}

/** Waits for the delay, or until the network or the tab returns. */
function waitForRetry(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      window.removeEventListener('online', done)
      document.removeEventListener('visibilitychange', onVisible)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const onVisible = () => document.visibilityState === 'visible' && done()
    const timer = setTimeout(done, ms)
    window.addEventListener('online', done)
    document.addEventListener('visibilitychange', onVisible)
    signal.addEventListener('abort', done)
  })
}
