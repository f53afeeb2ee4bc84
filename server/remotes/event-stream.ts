import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { readEventStream, type ServerSentEvent } from '../client/event-stream.ts'
import type { StreamEvent } from '../contract/operation.ts'
import { sanitizeResponse, maskToken } from './sanitize.ts'

/** A line of a log has at most 16 kB, six times as much as JSON. */
const maxEvent_chars = 2 ** 20
const maxId_chars = 200

/** The events of another instance that the contract knows, one by one; `raw` lets unnamed ones through as the text that they are. */
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

/** Ends when the connection breaks or an event is too large. The reader of the stream connects again and says where it was. */
async function* readUntilCut(response: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  try {
    yield* readEventStream(response, { max_chars: maxEvent_chars })
  } catch {}
}
