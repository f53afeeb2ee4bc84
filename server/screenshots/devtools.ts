import type { Readable, Writable } from 'node:stream'

/** A received message of the DevTools protocol. */
interface DevToolsMessage {
  id?: number
  method?: string
  sessionId?: string
  params?: DevToolsParams
  result?: DevToolsParams
  error?: { message: string }
}

export type DevToolsParams = { [name: string]: unknown }

export interface DevTools {
  /** Sends a command to the browser, or to a target by session. Rejects when the browser returns an error or has ended. */
  send(method: string, params?: DevToolsParams, sessionId?: string): Promise<DevToolsParams>
  on(method: string, listener: (params: DevToolsParams, sessionId: string | undefined) => void): void
  /** Rejects all pending and future commands with this error. */
  close(error: Error): void
}

/** Larger than any expected message: a PNG of 8 MiB in base64. */
const maxMessage_bytes = 16 * 2 ** 20

/** Connects to a browser over a pair of pipes: each message is JSON, terminated by NUL. */
export function createDevTools(from: Readable, to: Writable): DevTools {
  const pending = new Map<number, { resolve(result: DevToolsParams): void; reject(error: Error): void }>()
  const listeners = new Map<string, ((params: DevToolsParams, sessionId: string | undefined) => void)[]>()
  let lastId = 0
  let closeReason: Error | undefined
  let chunks: Buffer[] = []
  let bytes = 0

  const close = (error: Error): void => {
    closeReason ??= error
    for (const { reject } of pending.values()) reject(closeReason)
    pending.clear()
    from.destroy()
    to.destroy()
  }

  const dispatch = (text: string): void => {
    const message = JSON.parse(text) as DevToolsMessage
    if (message.id === undefined) {
      for (const listener of listeners.get(message.method ?? '') ?? []) listener(message.params ?? {}, message.sessionId)
      return
    }
    const call = pending.get(message.id)
    pending.delete(message.id)
    if (message.error) call?.reject(new Error(`The browser returned an error: ${message.error.message}`))
    else call?.resolve(message.result ?? {})
  }

  from.on('data', (chunk: Buffer) => {
    let start = 0
    for (let at = chunk.indexOf(0); at !== -1; at = chunk.indexOf(0, start)) {
      const text = Buffer.concat([...chunks, chunk.subarray(start, at)]).toString('utf8')
      chunks = []
      bytes = 0
      start = at + 1
      try {
        dispatch(text)
      } catch (error) {
        return close(error instanceof Error ? error : new Error(String(error)))
      }
    }
    if (start < chunk.length) chunks.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes > maxMessage_bytes) close(new Error('The browser sent a message that is too large.'))
  })
  const onClosed = () => close(new Error('The browser exited.'))
  from.on('end', onClosed).on('error', onClosed).on('close', onClosed)
  to.on('error', onClosed)

  return {
    send(method, params = {}, sessionId) {
      if (closeReason) return Promise.reject(closeReason)
      const id = ++lastId
      return new Promise((resolve, reject) => {
        pending.set(id, { resolve, reject })
        to.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`)
      })
    },
    on(method, listener) {
      listeners.set(method, [...(listeners.get(method) ?? []), listener])
    },
    close,
  }
}
