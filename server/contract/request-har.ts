import type { LoggedRequest } from './requests.ts'

/** Requests of the request log as HAR 1.2, in the given order. The log has no headers, cookies or bodies: their lists are empty, and unknown sizes are -1. */
export function toHar(requests: readonly LoggedRequest[], version: string) {
  return { log: { version: '1.2', creator: { name: 'Homeport', version }, entries: requests.map(toEntry) } }
}

function toEntry({ id, time, method, scheme, host, path, query, protocol, status, duration_ms, bytes, ...times }: LoggedRequest) {
  const unknown = { cookies: [], headers: [], headersSize: -1 }
  return {
    startedDateTime: time,
    time: duration_ms,
    request: {
      method,
      url: `${scheme}://${host}${path}${query === null ? '' : `?${query}`}`,
      httpVersion: protocol,
      ...unknown,
      queryString: parseQuery(query),
      bodySize: -1,
    },
    response: {
      status,
      statusText: '',
      httpVersion: protocol,
      ...unknown,
      content: { size: bytes, mimeType: '' },
      redirectURL: '',
      bodySize: bytes,
    },
    cache: {},
    timings: { blocked: times.wake_ms + (times.queue_ms ?? 0), send: 0, wait: times.app_ms ?? 0, receive: times.transfer_ms },
    comment: id,
  }
}

const parseQuery = (query: string | null) => Array.from(new URLSearchParams(query ?? ''), ([name, value]) => ({ name, value }))
