import { limits } from '../contract/limits.ts'
import type { RouteMetrics, RouteSort } from '../contract/project-metrics.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'
import { toRouteTemplate } from '../lib/route-template.ts'
import type { RouteRequestRow } from '../store/request-store.ts'

interface RouteTotals {
  requests: number
  errors: number
  bytes: number
  durations: Histogram
}
type RouteFigures = Omit<RouteMetrics, 'method' | 'route'>

/** Sums up requests by method and route. The number of routes is bounded, because a client can request any path. */
export function createRouteSummary() {
  const routes = new Map<string, RouteTotals & { method: string; route: string }>()
  const rest = createTotals()
  let skipped = 0

  return {
    add(row: RouteRequestRow): void {
      skipped += row.skipped_before
      const route = toRouteTemplate(row.path)
      const key = `${row.method} ${route}`
      if (!routes.has(key) && routes.size < limits.metrics.distinct_routes) routes.set(key, { ...createTotals(), method: row.method, route })
      const totals = routes.get(key) ?? rest
      totals.requests++
      if (row.status >= 500) totals.errors++
      totals.bytes += row.bytes
      totals.durations.add(row.duration_ms)
    },

    result(sort: RouteSort): { routes: RouteMetrics[]; other: (RouteFigures & { routes: number }) | null; skipped: number } {
      const all = [...routes.values()].map((totals) => ({ totals, shown: { method: totals.method, route: totals.route, ...presentTotals(totals) } }))
      all.sort((a, b) => orders[sort](b.shown) - orders[sort](a.shown) || b.shown.requests - a.shown.requests)
      const others = all.slice(limits.metrics.routes)
      for (const { totals } of others) mergeTotals(rest, totals)
      return {
        routes: all.slice(0, limits.metrics.routes).map(({ shown }) => shown),
        other: rest.requests === 0 ? null : { routes: others.length, ...presentTotals(rest) },
        skipped,
      }
    },
  }
}

const orders: Record<RouteSort, (route: RouteMetrics) => number> = {
  slowest: ({ p95_ms }) => p95_ms,
  requests: ({ requests }) => requests,
  errors: ({ errors }) => errors,
}

const createTotals = (): RouteTotals => ({ requests: 0, errors: 0, bytes: 0, durations: createHistogram() })

function mergeTotals(into: RouteTotals, { requests, errors, bytes, durations }: RouteTotals): void {
  into.requests += requests
  into.errors += errors
  into.bytes += bytes
  into.durations.merge(durations)
}

function presentTotals({ requests, errors, bytes, durations }: RouteTotals): RouteFigures {
  const quantile = (q: number) => Number((durations.quantile(q) ?? 0).toPrecision(4))
  return { requests, errors, error_rate: errors / requests, p50_ms: quantile(0.5), p95_ms: quantile(0.95), p99_ms: quantile(0.99), bytes }
}
