import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { StreamEvent } from '../contract/operation.ts'
import { sanitizeResponse, maskToken } from './sanitize.ts'

/** A line of a log has 16 kB at most, six times that as JSON; past this it is no line of Homeport. */
const maxLine_chars = 512 * 1024
const maxEvent_chars = 2 ** 20
const maxId_chars = 200

interface EventFrame {
  event: string
  id: string | undefined
  data: string
}

/** The events of another instance that the contract knows, one by one; `raw` lets unnamed ones through as the text that they are. */
export async function* readRemoteEvents(
  response: IncomingMessage,
  { events, raw = false, token }: { events: Record<string, z.ZodType>; raw?: boolean | undefined; token: string },
): AsyncGenerator<StreamEvent> {
  try {
    for await (const { event, id, data } of parseFrames(response)) {
      const idField = id === undefined ? {} : { id }
      if (event === '') {
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

/** A connection that breaks is an end like any other: who follows comes back, and says where it was. */
async function* ignoreDisconnect(response: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* response
  } catch {}
}

async function* parseFrames(response: AsyncIterable<Uint8Array>): AsyncGenerator<EventFrame> {
  const decoder = new TextDecoder()
  const read = createFrameParser()
  let line = ''
  /** The last sign was \r: a \n after it belongs to the same end of a line. */
  let wasReturn = false
  for await (const chunk of ignoreDisconnect(response)) {
    const text = decoder.decode(chunk, { stream: true })
    if (text === '') continue
    const pieces = (wasReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\n|\r/)
    wasReturn = text.endsWith('\r')
    for (const [index, piece] of pieces.entries()) {
      line += piece
      if (line.length > maxLine_chars) return
      if (index === pieces.length - 1) break
      const frame = read(line)
      line = ''
      if (frame === 'too large') return
      if (frame) yield frame
    }
  }
}

/** Takes line after line; an empty one ends an event. */
function createFrameParser(): (line: string) => EventFrame | 'too large' | undefined {
  let event = ''
  let id: string | undefined
  let data: string[] = []
  let size = 0
  return (line) => {
    if (line === '') {
      const frame = data.length === 0 ? undefined : { event, id, data: data.join('\n') }
      event = ''
      data = []
      size = 0
      return frame
    }
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'event') event = value
    else if (name === 'id' && !value.includes('\0') && value.length <= maxId_chars) id = value
    else if (name === 'data') {
      data.push(value)
      size += value.length + 1
      if (size > maxEvent_chars) return 'too large'
    }
    return undefined
  }
}
