import { connect } from 'node:net'
import { readEventStream as readEvents } from '../../server/client/event-stream.ts'
import type { RuntimeLogLine, RuntimeStateEvent } from '../../server/contract/deployments.ts'
import type { StreamEvent } from '../../server/contract/operation.ts'

export interface ServerEvent {
  id: string | undefined
  event: string | undefined
  data: string
}

/**
 * Yields the events of a stream without comments. Ends with the stream, or when the caller stops iterating, which closes the
 * connection.
 */
export async function* readEventStream(
  url: string,
  options: { token: string; last_event_id?: string | undefined; signal?: AbortSignal },
): AsyncGenerator<ServerEvent> {
  const controller = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, controller.signal]) : controller.signal
  try {
    const headers = {
      authorization: `Bearer ${options.token}`,
      ...(options.last_event_id === undefined ? {} : { 'last-event-id': options.last_event_id }),
    }
    const response = await fetch(url, { headers, signal })
    if (response.status !== 200 || !response.body) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
    for await (const { id, event, data } of readEvents(response.body)) yield { id, event, data }
  } finally {
    controller.abort()
  }
}

/** Reads a project's runtime log from its beginning in the background until `close`: its states and lines, in order. */
export function followRuntimeLog(
  instance: { api_url: string; token: string },
  slug: string,
  query = '',
): { readonly states: RuntimeStateEvent['state'][]; readonly lines: string[]; close(): void } {
  const states: RuntimeStateEvent['state'][] = []
  const lines: string[] = []
  const closing = new AbortController()
  const url = `${instance.api_url}/v1/projects/${slug}/runtime-logs?lines=2000&format=json${query}`
  const read = async () => {
    for await (const { event, data } of readEventStream(url, { token: instance.token, signal: closing.signal })) {
      if (event === 'state') states.push((JSON.parse(data) as RuntimeStateEvent).state)
      else lines.push((JSON.parse(data) as RuntimeLogLine).line)
    }
  }
  // Reading ends with the platform or with `close`.
  read().catch(() => {})
  return { states, lines, close: () => closing.abort() }
}

/** A reader that opens a stream and never reads, so that its socket buffer stays full. */
export function openStalledReader(url: string, token: string): { end(): void } {
  const { hostname, port, pathname, search } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('connect', () => {
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    socket.pause()
  })
  socket.on('error', () => {})
  return { end: () => void socket.destroy() }
}

/** Resolves when the reader disconnects or the platform ends the stream. */
export const waitForAbort = (signal: AbortSignal): Promise<unknown> => new Promise((resolve) => signal.addEventListener('abort', resolve))

/** A stream without events, which stays open until it is aborted. */
export async function* silentStream(signal: AbortSignal): AsyncGenerator<StreamEvent> {
  await waitForAbort(signal)
  yield* []
}
