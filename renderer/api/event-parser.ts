export interface ServerSentEvent {
  event: string
  id: string | null
  data: string
}

/** Turns the text of an event stream, in whatever pieces it arrives, into events. A line may end with \n, \r\n or \r. */
export function createEventParser(): (text: string) => ServerSentEvent[] {
  let buffer = ''
  let event = ''
  let id: string | null = null
  let data: string[] = []

  return function parse(text) {
    const events: ServerSentEvent[] = []
    buffer += text
    // A \r at the very end may be the first half of \r\n: it waits for what follows.
    const complete = buffer.endsWith('\r') ? buffer.slice(0, -1) : buffer
    const lines = complete.split(/\r\n|\n|\r/)
    buffer = (lines.pop() ?? '') + buffer.slice(complete.length)
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) events.push({ event: event || 'message', id, data: data.join('\n') })
        event = ''
        data = []
        continue
      }
      const colon = line.indexOf(':')
      if (colon === 0) continue
      const name = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
      if (name === 'data') data.push(value)
      else if (name === 'event') event = value
      else if (name === 'id' && !value.includes('\0')) id = value
    }
    return events
  }
}
