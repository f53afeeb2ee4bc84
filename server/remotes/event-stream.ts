import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { readEventStream, type ServerSentEvent } from '../client/event-stream.ts'
import type { StreamEvent } from '../contract/operation.ts'
import { sanitizeResponse, maskToken } from './sanitize.ts'

/** A log line has at most 16 kB, or six times that as JSON. A larger event is not from Homeport. */
const maxEvent_chars = 2 ** 20
const maxId_chars = 200

/** Yields the events of another instance that the contract defines. With `raw`, unnamed events are passed on as plain text. */
export async function* readRemoteEvents(
  response: IncomingMessage,
  { events, raw = false, token }: { events: Record<string, z.ZodType>; raw?: boolean | undefined; token: string },
): AsyncGenerator<StreamEvent> {
  try {
    for await (const { event, id, data } of readUntilCut(response)) {
      const idField = id === undefined || id.length > maxId_chars ? {} : { id }
      if (event === undefined) {
        if (raw) yield { ...idField, data: maskToken(data, token) }
        continue
      }
      const schema = Object.hasOwn(events, event) ? events[event] : undefined
      const parsed = schema?.safeParse(parseJson(data))
      if (parsed?.success) yield { ...idField, event, data: sanitizeResponse(parsed.data, token) }
    }
  } finally {
    response.destroy()
  }
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

/** Ends when the connection breaks or an event is too large. Clients then reconnect with their last event id. */
async function* readUntilCut(response: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  try {
    yield* readEventStream(response, { max_chars: maxEvent_chars })
  } catch {}
}
