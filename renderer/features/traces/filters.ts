import type { TraceQuery } from '../../api/traces.ts'

/** A change of filters, as the address has them; an empty text removes one. */
export type TraceFilterChange = { [Name in keyof TraceQuery]?: string }

const patterns: { [Name in keyof Required<TraceQuery>]: RegExp } = {
  route: /^.{1,200}$/,
  status: /^[1-5](?:xx|\d\d)$/i,
  min_duration_ms: /^\d{1,9}$/,
  errors: /^true$/,
  branch: /^.{1,250}$/,
}

/** Ignores unknown filters of the address, and invalid values. */
export function parseTraceFilters(params: URLSearchParams): TraceQuery {
  return Object.fromEntries(
    (Object.keys(patterns) as (keyof TraceQuery)[]).flatMap((name) => {
      const value = params.get(name)
      return value !== null && patterns[name].test(value) ? [[name, value]] : []
    }),
  )
}
