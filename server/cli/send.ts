import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline } from 'node:stream/promises'

interface Question {
  method: string
  headers: OutgoingHttpHeaders
  body?: string | AsyncIterable<Uint8Array> | undefined
  /** The only limit of time there is. */
  signal: AbortSignal
}

/**
 * What `fetch` does, without its 300 s for the head of an answer and for a silence in it: a restore thinks longer, and so does a log
 * in which nothing happens. A redirect is an answer like any other. Rejects with the reason of the signal once that is aborted.
 */
export async function send(url: URL, { method, headers, body, signal }: Question): Promise<Response> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  // A connection of its own: one that was kept may be closed by the other side this very moment.
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { method, headers, agent: false, signal })
  request.once('response', resolve)
  // After the answer its own stream tells.
  request.on('error', (error) => reject(signal.aborted ? signal.reason : error))
  request.once('close', () => reject(new Error('The connection ended without an answer.')))
  if (body === undefined || typeof body === 'string') request.end(body)
  else pipeline(body, request).catch((error: unknown) => request.destroy(error instanceof Error ? error : new Error(String(error))))
  const answer = await promise
  const said = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) if (typeof value === 'string') said.set(name, value)
  const status = answer.statusCode ?? 0
  const isEmpty = status === 204 || status === 304
  if (isEmpty) answer.resume()
  return new Response(isEmpty ? null : streamOf(answer), { status, headers: said })
}

function streamOf(answer: AsyncIterable<Uint8Array>): ReadableStream {
  const source = answer[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const next = await source.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      await source.return?.()
    },
  })
}
