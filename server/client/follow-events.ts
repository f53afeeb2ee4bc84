import { ApiError } from './api-error.ts'
import { createEventStreamParser, type ServerSentEvent } from './event-stream.ts'

export interface FollowOptions {
  /** Opens the stream after an event; throws an ApiError when it is refused or nothing responds. */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<Response>
  signal: AbortSignal
  /** An event of this name ends the stream. */
  end_event?: string | undefined
  /** A connection that is silent for longer counts as lost. The instance sends a comment every 15 s. */
  silence_ms?: number
  /** Called when a connection is open. */
  onOpen?(): void
  /**
   * Called when a connection was lost or not established, to wait before the next attempt. `failures` counts attempts in a row that delivered
   * nothing. Resolves to false, or throws, to give up.
   */
  retry(error: ApiError | undefined, failures: number): Promise<boolean>
}

/** Yields the events of a stream, all of one network chunk together, and resumes a lost connection after the last event. */
export async function* followEvents(options: FollowOptions): AsyncGenerator<ServerSentEvent[]> {
  const { signal, end_event } = options
  let lastEventId: string | undefined
  let failures = 0
  while (!signal.aborted) {
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    signal.addEventListener('abort', stop, { once: true })
    let failure: ApiError | undefined
    try {
      const response = await options.open(lastEventId, attempt.signal)
      options.onOpen?.()
      for await (const events of readEventChunks(response, options.silence_ms)) {
        failures = 0
        for (const { id } of events) lastEventId = id ?? lastEventId
        if (events.length > 0) yield events
        if (end_event !== undefined && events.some(({ event }) => event === end_event)) return
      }
    } catch (error) {
      failure = error instanceof ApiError ? error : undefined
    } finally {
      signal.removeEventListener('abort', stop)
    }
    if (signal.aborted || !(await options.retry(failure, ++failures))) return
  }
}

/** The events of each chunk; none for a comment. */
async function* readEventChunks(response: Response, silence_ms: number | undefined): AsyncGenerator<ServerSentEvent[]> {
  const reader = response.body?.getReader()
  if (!reader) return
  const parse = createEventStreamParser()
  const decoder = new TextDecoder()
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    for (;;) {
      if (silence_ms !== undefined) timer = setTimeout(() => void reader.cancel().catch(() => undefined), silence_ms)
      const { done, value } = await reader.read()
      clearTimeout(timer)
      if (done) return
      yield parse(decoder.decode(value, { stream: true }))
    }
  } finally {
    clearTimeout(timer)
    reader.cancel().catch(() => undefined)
  }
}
