import { createEventParser } from './event-parser.ts'
import { type ApiProblem, problemOf, unreachable } from './problem.ts'
import { sessionHeaders } from './session.ts'

/** Where a stream stands. `refused`: the platform does not give it (gone, not allowed, not offered), and asking again is no use. */
export type StreamState =
  | { name: 'connecting' | 'open' | 'ended' }
  | { name: 'waiting'; problem: ApiProblem }
  | { name: 'refused'; problem: ApiProblem }

export interface FollowHandlers<Event> {
  /** All events of one piece of the network at once, so that a burst is one change of the page. */
  onEvents(events: Event[]): void
  onState(state: StreamState): void
}

export interface FollowOptions {
  signal: AbortSignal
  /** An event of this name is the last one: the stream is not opened again. */
  end_event?: string
  /** Rests while the tab is out of sight: a browser has six connections to a host for all its tabs together. */
  rests_when_hidden?: boolean
}

const firstDelay_ms = 500
const maxDelay_ms = 15_000
// The platform sends a comment every 15 s; three of them missing means that nobody is there.
const silence_ms = 45_000
// Who looks away for a moment only should find everything as it was.
const hiddenPatience_ms = 5_000

/** Server-Sent Events over fetch: resumes by Last-Event-ID, backs off, and wakes at once when the network or the tab is back. */
export async function follow<Event>(
  url: string,
  request: { redirect: 'error'; credentials: RequestCredentials },
  handlers: FollowHandlers<Event> & { onProblem(problem: ApiProblem): unknown },
  { signal, end_event, rests_when_hidden = false }: FollowOptions,
): Promise<void> {
  let lastId: string | null = null
  let failures = 0

  while (!signal.aborted) {
    const attempt = new AbortController()
    const rest = rests_when_hidden ? restWhenHidden(attempt) : null
    handlers.onState({ name: 'connecting' })
    const stop = () => attempt.abort()
    signal.addEventListener('abort', stop)
    let problem = unreachable(undefined)
    try {
      const headers: Record<string, string> = {
        ...sessionHeaders(),
        accept: 'text/event-stream',
        ...(lastId === null ? {} : { 'last-event-id': lastId }),
      }
      const response: Response = await fetch(url, { ...request, headers, signal: attempt.signal, cache: 'no-store' })
      if (!response.ok || !response.body) {
        problem = await problemOf(response)
        handlers.onProblem(problem)
        const passing = response.status >= 500 || response.status === 429 || response.status === 408
        if (!passing) return handlers.onState({ name: 'refused', problem })
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
      problem = unreachable(error)
    } finally {
      signal.removeEventListener('abort', stop)
      rest?.stop()
      attempt.abort()
    }
    if (signal.aborted) return
    if (rest?.rested()) {
      await untilVisible(signal)
      continue
    }
    handlers.onState({ name: 'waiting', problem })
    const delay = Math.min(maxDelay_ms, firstDelay_ms * 2 ** failures++) * (0.75 + Math.random() / 2)
    await pause(Math.max(delay, (problem.retry_after_s ?? 0) * 1000), signal)
  }
}

async function* readEvents<Event>(
  body: ReadableStream<Uint8Array>,
  attempt: AbortController,
): AsyncGenerator<{ name: string; id: string | null; event: Event }[]> {
  const parse = createEventParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let silence: ReturnType<typeof setTimeout> | undefined
  try {
    while (true) {
      clearTimeout(silence)
      silence = setTimeout(() => attempt.abort(), silence_ms)
      const { done, value } = await reader.read()
      if (done) return
      const events = parse(decoder.decode(value, { stream: true }))
      if (events.length > 0)
        yield events.map(({ event: name, id, data }) => ({ name, id, event: { event: name, id, data: JSON.parse(data) } as Event }))
    }
  } finally {
    clearTimeout(silence)
    reader.cancel().catch(() => undefined)
  }
}

/** Ends an attempt when the tab has been out of sight for a while. */
function restWhenHidden(attempt: AbortController): { rested(): boolean; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let rested = false
  const look = () => {
    clearTimeout(timer)
    if (document.visibilityState === 'visible') return
    timer = setTimeout(() => {
      rested = true
      attempt.abort()
    }, hiddenPatience_ms)
  }
  look()
  document.addEventListener('visibilitychange', look)
  return {
    rested: () => rested,
    stop() {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    },
  }
}

function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState !== 'visible' && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
    look()
  })
}

/** Waits, but no longer than until the network or the tab comes back. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      window.removeEventListener('online', done)
      document.removeEventListener('visibilitychange', woke)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const woke = () => document.visibilityState === 'visible' && done()
    const timer = setTimeout(done, ms)
    window.addEventListener('online', done)
    document.addEventListener('visibilitychange', woke)
    signal.addEventListener('abort', done)
  })
}
