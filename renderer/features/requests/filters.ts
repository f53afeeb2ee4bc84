import type { RequestQuery } from '../../api/requests.ts'

/** A change of filters, as the address has them; an empty text removes one. */
export type FilterChange = { [Name in keyof RequestQuery]?: string }

export const statusChoices = { '2xx': '2xx Success', '3xx': '3xx Redirect', '4xx': '4xx Client error', '5xx': '5xx Server error' }
export const methodChoices = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export const cacheChoices = { hit: 'Hit', stale: 'Stale', miss: 'Miss', bypass: 'Bypass' }
export const durationChoices = { 100: 'Over 100 ms', 500: 'Over 500 ms', 1000: 'Over 1 s', 5000: 'Over 5 s' }

/** Filters of the other fields. They come with a link or from “More”, and are removed by their button. */
export const addedFilters = {
  user_agent: { label: 'User agent', hint: 'curl' },
  client_ip: { label: 'Client', hint: '192.0.2.7' },
  host: { label: 'Host', hint: 'my-branch--my-app.localhost' },
  query: { label: 'Query', hint: 'page=2' },
  status: { label: 'Status', hint: '404' },
  route: { label: 'Route', hint: '/users/:id' },
  deployment: { label: 'Deployment', hint: 'dpl_01k…' },
  replica: { label: 'Replica', hint: '2' },
  cache_status: { label: 'Cache reason', hint: 'no lifetime' },
  min_bytes: { label: 'Bytes at least', hint: '100000' },
  min_wake_ms: { label: 'Wake at least (ms)', hint: '1' },
  id: { label: 'Request ID', hint: 'req_01k…' },
  trace_id: { label: 'Trace ID', hint: '0af7651916cd43dd8448eb211c80319c' },
  failure: { label: 'Failure', hint: 'timeout' },
} as const satisfies Partial<Record<keyof RequestQuery, { label: string; hint: string }>>
export type AddedFilter = keyof typeof addedFilters

export const filterPatterns: { [Name in keyof Required<RequestQuery>]: RegExp } = {
  status: /^[1-5](?:xx|\d\d)$/i,
  method: /^[A-Za-z]{1,20}$/,
  path: /^.{1,200}$/,
  route: /^.{1,200}$/,
  host: /^.{1,253}$/,
  deployment: /^.{1,100}$/,
  replica: /^\d{1,2}$/,
  cache: /^(?:hit|stale|miss|bypass)$/,
  client_ip: /^.{1,50}$/,
  query: /^.{1,200}$/,
  cache_status: /^.{1,200}$/,
  user_agent: /^.{1,200}$/,
  failure: /^(?:refused|rerouted|closed|malformed|timeout|cut|crashed|client_closed)$/,
  min_duration_ms: /^\d{1,9}$/,
  min_wake_ms: /^\d{1,9}$/,
  min_bytes: /^\d{1,9}$/,
  trace_id: /^[0-9a-f]{32}$/,
  id: /^.{1,100}$/,
  since: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  until: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
}

/** Ignores unknown filters of the address, and invalid values. */
export function parseRequestFilters(params: URLSearchParams): RequestQuery {
  return Object.fromEntries(
    (Object.keys(filterPatterns) as (keyof RequestQuery)[]).flatMap((name) => {
      const value = params.get(name)
      return value !== null && filterPatterns[name].test(value) ? [[name, value]] : []
    }),
  )
}
