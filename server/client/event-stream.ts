import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** An event as sent: `event` is undefined for an unnamed one, `id` if the event has none of its own. */
export type ServerSentEvent = EventSourceMessage

interface ParserOptions {
  /** An event, or a line, longer than this many characters makes the next call throw. */
  max_chars?: number | undefined
}

/** Returns a function that takes the text of an event stream, split anywhere, and returns the complete events. */
export function createEventStreamParser({ max_chars }: ParserOptions = {}): (text: string) => ServerSentEvent[] {
  let events: ServerSentEvent[] = []
  const parser = createParser({ maxBufferSize: max_chars, onEvent: (event) => events.push(event) })
  return (text) => {
    events = []
    parser.feed(text)
    return events
  }
}

/** The events of an event stream as they arrive, without its comments. */
export async function* readEventStream(chunks: AsyncIterable<Uint8Array>, options?: ParserOptions): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder()
  const parse = createEventStreamParser(options)
  for await (const chunk of chunks) yield* parse(decoder.decode(chunk, { stream: true }))
}
