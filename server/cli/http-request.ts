import { Agent as HttpAgent, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { pipeline } from 'node:stream/promises'

interface HttpRequestOptions {
  method: string
  headers: OutgoingHttpHeaders
  body?: string | AsyncIterable<Uint8Array> | undefined
  /** The only timeout. */
  signal: AbortSignal
}

/**
 * Like `fetch`, but without its timeouts of 300 s for response headers and between body chunks, because a restore or a quiet log
 * takes longer. Redirects are returned, not followed. Rejects with the reason of the signal when it is aborted.
 */
export async function sendHttpRequest(url: URL, { method, headers, body, signal }: HttpRequestOptions): Promise<Response> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const isSecure = url.protocol === 'https:'
  // Each request has its own connection, because the server may close a reused one at any moment. `keepAlive` makes the server read
  // the rest of a rejected upload before it closes, so that its response is not lost.
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true })
  const request = (isSecure ? requestHttps : requestHttp)(url, { method, headers, agent, signal })
  request.once('response', (response) => {
    // A response before the end of the upload is final, so the rest of the upload is dropped.
    response.once('end', () => request.writableFinished || request.destroy())
    // A reader gets errors from the body; after its end, an abort is none.
    response.on('error', () => {})
    resolve(response)
  })
  // After the response has started, errors surface on its body.
  request.on('error', (error) => reject(signal.aborted ? signal.reason : error))
  request.once('close', () => {
    agent.destroy()
    reject(new Error('The connection closed without a response.'))
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
