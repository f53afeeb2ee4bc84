import { Agent as HttpAgent, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { pipeline } from 'node:stream/promises'

interface HttpRequestOptions {
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
export async function sendHttpRequest(url: URL, { method, headers, body, signal }: HttpRequestOptions): Promise<Response> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const isSecure = url.protocol === 'https:'
  // A connection of its own: one from before may be closed by the other side this very moment. But asked to keep it, the other side lets
  // what is left of a refused file come, so that its answer is not lost.
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true })
  const request = (isSecure ? requestHttps : requestHttp)(url, { method, headers, agent, signal })
  request.once('response', (response) => {
    // It may come before the whole body is there: the rest is not wanted then.
    response.once('end', () => request.writableFinished || request.destroy())
    resolve(response)
  })
  // After the answer its own stream tells.
  request.on('error', (error) => reject(signal.aborted ? signal.reason : error))
  request.once('close', () => {
    agent.destroy()
    reject(new Error('The connection ended without an answer.'))
  })
  if (body === undefined || typeof body === 'string') request.end(body)
  else pipeline(body, request).catch(reject)
  const response = await promise
  const responseHeaders = new Headers()
  for (const [name, value] of Object.entries(response.headers)) if (typeof value === 'string') responseHeaders.set(name, value)
  const status = response.statusCode ?? 0
  const isEmpty = status === 204 || status === 304
  if (isEmpty) response.resume()
  return new Response(isEmpty ? null : toReadableStream(response), { status, headers: responseHeaders })
}

function toReadableStream(response: AsyncIterable<Uint8Array>): ReadableStream {
  const source = response[Symbol.asyncIterator]()
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
