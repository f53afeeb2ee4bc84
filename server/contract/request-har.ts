import type { CapturedExchange, CapturedMessage } from './request-captures.ts'
import { type EdgeUrls, formatRequestUrl } from './request-url.ts'
import type { LoggedRequest } from './requests.ts'

/**
 * Requests of the request log as HAR 1.2, in the given order. Of requests that were not captured there are no headers and bodies: their lists are empty,
 * and unknown sizes are -1.
 */
export function toHar(
  requests: readonly LoggedRequest[],
  instance: EdgeUrls & { version: string },
  captures: ReadonlyMap<string, CapturedExchange> = new Map(),
) {
  const entries = requests.map((request) => toEntry(request, instance, captures.get(request.id)))
  return { log: { version: '1.2', creator: { name: 'Homeport', version: instance.version }, entries } }
}

function toEntry(logged: LoggedRequest, edgeUrls: EdgeUrls, captured: CapturedExchange | undefined) {
  const { id, time, method, query, protocol, status, duration_ms, bytes, ...times } = logged
  const { request, response } = captured ?? {}
  const postData = request?.body != null && { mimeType: contentTypeOf(request), text: request.body, ...commentOf(request) }
  return {
    startedDateTime: time,
    time: duration_ms,
    request: {
      method,
      url: formatRequestUrl(logged, edgeUrls),
      httpVersion: protocol,
      cookies: [],
      headers: toPairs(request),
      headersSize: -1,
      queryString: parseQuery(query),
      ...(postData && { postData }),
      bodySize: -1,
    },
    response: {
      status,
      statusText: '',
      httpVersion: protocol,
      cookies: [],
      headers: toPairs(response),
      headersSize: -1,
      content: {
        size: bytes,
        mimeType: contentTypeOf(response),
        ...(response?.body != null && { text: response.body, ...(response.encoding === 'base64' && { encoding: 'base64' }), ...commentOf(response) }),
      },
      redirectURL: '',
      bodySize: bytes,
    },
    cache: {},
    timings: { blocked: times.wake_ms + (times.queue_ms ?? 0), send: 0, wait: times.app_ms ?? 0, receive: times.transfer_ms },
    comment: id,
  }
}

const parseQuery = (query: string | null) => Array.from(new URLSearchParams(query ?? ''), ([name, value]) => ({ name, value }))

const toPairs = (message: CapturedMessage | undefined) => (message?.headers ?? []).map(([name, value]) => ({ name, value }))
const contentTypeOf = (message: CapturedMessage | undefined): string =>
  message?.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
const commentOf = ({ is_truncated }: CapturedMessage) => (is_truncated ? { comment: 'truncated' } : {})
