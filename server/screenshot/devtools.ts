import type { Readable, Writable } from 'node:stream'

/** A message of the DevTools protocol, as it comes in. */
interface Message {
  id?: number
  method?: string
  sessionId?: string
  params?: Params
  result?: Params
  error?: { message: string }
}

export type Params = { [name: string]: unknown }

export interface DevTools {
  /** Asks the browser itself, or one of its targets by session. Rejects when it refuses or is gone. */
  ask(method: string, params?: Params, sessionId?: string): Promise<Params>
  on(method: string, listener: (params: Params, sessionId: string | undefined) => void): void
  /** Every question that is open, and every further one, is refused with this. */
  end(error: Error): void
}

/** More than any message that we ask for: a picture of 8 MiB in base64. */
const longest_bytes = 16 * 2 ** 20

/** Speaks to a browser over a pair of pipes: each message is JSON, with a NUL at its end. */
export function createDevTools(from: Readable, to: Writable): DevTools {
  const open = new Map<number, { resolve(result: Params): void; reject(error: Error): void }>()
  const listeners = new Map<string, ((params: Params, sessionId: string | undefined) => void)[]>()
  let last = 0
  let ended: Error | undefined
  let pieces: Buffer[] = []
  let bytes = 0

  const end = (error: Error): void => {
    ended ??= error
    for (const { reject } of open.values()) reject(ended)
    open.clear()
    from.destroy()
    to.destroy()
  }

  const take = (text: string): void => {
    const message = JSON.parse(text) as Message
    if (message.id === undefined) {
      for (const listener of listeners.get(message.method ?? '') ?? []) listener(message.params ?? {}, message.sessionId)
      return
    }
    const waiting = open.get(message.id)
    open.delete(message.id)
    if (message.error) waiting?.reject(new Error(`The browser refused: ${message.error.message}`))
    else waiting?.resolve(message.result ?? {})
  }

  from.on('data', (chunk: Buffer) => {
    let start = 0
    for (let at = chunk.indexOf(0); at !== -1; at = chunk.indexOf(0, start)) {
      const text = Buffer.concat([...pieces, chunk.subarray(start, at)]).toString('utf8')
      pieces = []
      bytes = 0
      start = at + 1
      try {
        take(text)
      } catch (error) {
        return end(error instanceof Error ? error : new Error(String(error)))
      }
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes > longest_bytes) end(new Error('The browser sent more than a picture could be.'))
  })
  const gone = () => end(new Error('The browser ended.'))
  from.on('end', gone).on('error', gone).on('close', gone)
  to.on('error', gone)

  return {
    ask(method, params = {}, sessionId) {
      if (ended) return Promise.reject(ended)
      const id = ++last
      return new Promise((resolve, reject) => {
        open.set(id, { resolve, reject })
        to.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`)
      })
    },
    on(method, listener) {
      listeners.set(method, [...(listeners.get(method) ?? []), listener])
    },
    end,
  }
}
