import { createEventStreamParser } from '../../server/client/event-stream.ts'
import { type ApiProblem, readProblem, unreachableProblem } from '../lib/api-problem.ts'
import { sessionHeaders } from './session.ts'

/**
 * Connection state of a stream. `refused`: the platform rejects the stream permanently (deleted, forbidden, unsupported), so there are no retries.
 */
export type StreamState =
  | { name: 'connecting' | 'open' | 'ended' }
  | { name: 'waiting'; problem: ApiProblem }
  | { name: 'refused'; problem: ApiProblem }

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
const heartbeatTimeout_ms = 45_000
// Grace period for a briefly hidden tab.
const hiddenDelay_ms = 5_000

/** Server-Sent Events over fetch. Resumes with Last-Event-ID, backs off between attempts, and retries at once when the network or the tab returns. */
export async function followEventStream<Event>(
  url: string,
  request: { redirect: 'error'; credentials: RequestCredentials },
  handlers: StreamHandlers<Event> & { onProblem(problem: ApiProblem): unknown },
  { signal, end_event, pauses_when_hidden = false }: StreamOptions,
): Promise<void> {
  let lastId: string | null = null
  let failures = 0

  while (!signal.aborted) {
    const attempt = new AbortController()
    const visibility = pauses_when_hidden ? abortWhenHidden(attempt) : null
    handlers.onState({ name: 'connecting' })
    const stop = () => attempt.abort()
    signal.addEventListener('abort', stop)
    let problem = unreachableProblem(undefined)
    try {
      const headers: Record<string, string> = {
        ...sessionHeaders(),
        accept: 'text/event-stream',
        ...(lastId === null ? {} : { 'last-event-id': lastId }),
      }
      const response: Response = await fetch(url, { ...request, headers, signal: attempt.signal, cache: 'no-store' })
      if (!response.ok || !response.body) {
        problem = await readProblem(response)
        handlers.onProblem(problem)
        const isTransient = response.status >= 500 || response.status === 429 || response.status === 408
        if (!isTransient) return handlers.onState({ name: 'refused', problem })
      } else {
        failures = 0
        handlers.onState({ name: 'open' })
        for await (const events of readEvents<Event>(response.body, attempt)) {
          for (const event of events) lastId = event.id ?? lastId
          handlers.onEvents(events.map((event) => event.event))
          if (end_event !== undefined && events.some((event) => event.name === end_event)) return handlers.onState({ name: 'ended' })
        }
      }
    } catch (error) {
      if (signal.aborted) return
      problem = unreachableProblem(error)
    } finally {
      signal.removeEventListener('abort', stop)
      visibility?.stop()
      attempt.abort()
    }
    if (signal.aborted) return
    if (visibility?.wasPaused()) {
      await waitUntilVisible(signal)
      continue
    }
    handlers.onState({ name: 'waiting', problem })
    const delay = Math.min(maxDelay_ms, initialDelay_ms * 2 ** failures++) * (0.75 + Math.random() / 2)
    await waitForRetry(Math.max(delay, (problem.retry_after_s ?? 0) * 1000), signal)
  }
}

async function* readEvents<Event>(
  body: ReadableStream<Uint8Array>,
  attempt: AbortController,
): AsyncGenerator<{ name: string; id: string | null; event: Event }[]> {
  const parse = createEventStreamParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let heartbeatTimer: ReturnType<typeof setTimeout> | undefined
  try {
    while (true) {
      clearTimeout(heartbeatTimer)
      heartbeatTimer = setTimeout(() => attempt.abort(), heartbeatTimeout_ms)
      const { done, value } = await reader.read()
      if (done) return
      const events = parse(decoder.decode(value, { stream: true }))
      if (events.length > 0)
        yield events.map(({ event: name = 'message', id = null, data }) => ({
          name,
          id,
          event: { event: name, id, data: JSON.parse(data) } as Event,
        }))
    }
  } finally {
    clearTimeout(heartbeatTimer)
    reader.cancel().catch(() => undefined)
  }
}

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
