import type { LoggedRequest } from '../../../server/contract/requests.ts'

export const cacheLabels: Record<NonNullable<LoggedRequest['cache']>, string> = { hit: 'Hit', stale: 'Stale', miss: 'Miss', bypass: 'Bypass' }

export const failureLabels: Record<NonNullable<LoggedRequest['failure']>, string> = {
  refused: 'The app did not accept the connection.',
  rerouted: 'The app was replaced while the request waited.',
  closed: 'The app closed the connection without a response.',
  malformed: 'The app’s response is not valid HTTP.',
  timeout: 'The app did not respond in time.',
  cut: 'The app’s response ended too early.',
  crashed: 'The app has crashed.',
  client_closed: 'The client left before the response was complete.',
}

/** Why the cache did not answer, from the parameters of `Cache-Status` (RFC 9211); null if there is nothing to explain. */
export function explainCacheStatus(status: string | null): string | null {
  if (status === null) return null
  const detail = /detail="([^"]*)"/.exec(status)?.[1]
  if (detail !== undefined) return `Not stored: ${detail}`
  if (status.includes('collapsed')) return 'Answered together with another request'
  if (status.includes('stored')) return 'Stored for the next request'
  const forward = /fwd=([a-z-]+)/.exec(status)?.[1]
  return forward === undefined ? null : (forwardReasons[forward] ?? null)
}

const forwardReasons: Record<string, string> = {
  'uri-miss': 'Nothing was stored for this address',
  'vary-miss': 'Nothing was stored for these headers',
  stale: 'The stored response was out of date',
  method: 'Only GET and HEAD are cached',
  request: 'The request asked for a fresh response',
  bypass: 'The cache is off for this project',
}
