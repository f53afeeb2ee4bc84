export interface ReceivedEvent {
  /** `message` for an unnamed one. */
  event: string
  id: string | undefined
  data: string
}

/** The Server-Sent Events of an answer, as they come. Comments (the heartbeat) are passed over. */
export async function* readEventStream(response: Response): AsyncGenerator<ReceivedEvent> {
  if (!response.body) return
  let rest = ''
  let event = ''
  let id: string | undefined
  let data: string[] = []
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    rest += text
    // A CR at the very end may be the first half of a CR LF: it waits for the next piece.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { event: event || 'message', id, data: data.join('\n') }
        event = ''
        id = undefined
        data = []
        continue
      }
      const colon = line.indexOf(':')
      const field = colon === -1 ? line : line.slice(0, colon)
      const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (field === 'data') data.push(value)
      else if (field === 'event') event = value
      else if (field === 'id') id = value
    }
  }
}
