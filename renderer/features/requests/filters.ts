import type { RequestQuery } from '../../api/requests.ts'

/** A change of filters, as the address has them; an empty text removes one. */
export type FilterChange = { [Name in keyof RequestQuery]?: string }

export const statusChoices = [
  ['', 'Any status'],
  ['2xx', '2xx Success'],
  ['3xx', '3xx Redirect'],
  ['4xx', '4xx Client error'],
  ['5xx', '5xx Server error'],
] as const
export const methodChoices = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export const cacheChoices = [
  ['', 'Any cache result'],
  ['hit', 'Hit'],
  ['stale', 'Stale'],
  ['miss', 'Miss'],
  ['bypass', 'Bypass'],
] as const
export const durationChoices = [
  ['', 'Any duration'],
  ['100', 'Over 100 ms'],
  ['500', 'Over 500 ms'],
  ['1000', 'Over 1 s'],
  ['5000', 'Over 5 s'],
] as const

/** Filters without a field of their own on the page. They come with a link and are removed by their button. */
export const linkedFilters = {
  route: 'Route',
  host: 'Host',
  deployment: 'Deployment',
  replica: 'Replica',
  client_ip: 'Client',
} as const satisfies Partial<Record<keyof RequestQuery, string>>

const patterns: { [Name in keyof Required<RequestQuery>]: RegExp } = {
  status: /^[1-5](?:xx|\d\d)$/i,
  method: /^[A-Za-z]{1,20}$/,
  path: /^.{1,200}$/,
  route: /^.{1,200}$/,
  host: /^.{1,253}$/,
  deployment: /^.{1,100}$/,
  replica: /^\d{1,2}$/,
  cache: /^(?:hit|stale|miss|bypass)$/,
  client_ip: /^.{1,50}$/,
  min_duration_ms: /^\d{1,9}$/,
  id: /^.{1,100}$/,
  since: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  until: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
}

/** Ignores unknown filters of the address, and invalid values. */
export function parseRequestFilters(params: URLSearchParams): RequestQuery {
  return Object.fromEntries(
    (Object.keys(patterns) as (keyof RequestQuery)[]).flatMap((name) => {
      const value = params.get(name)
      return value !== null && patterns[name].test(value) ? [[name, value]] : []
    }),
  )
}
