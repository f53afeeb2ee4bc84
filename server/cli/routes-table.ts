import { type RouteMetrics, routeSort, type RouteSort } from '../contract/project-metrics.ts'
import type { CallOutput } from '../client/operation-types.ts'
import { type CommandContext, stringFlag, UsageError } from './command.ts'
import { formatBytes, formatTable, sanitizeLine } from './terminal.ts'

export const routeSorts = routeSort.options

export function readSortFlag({ flags }: CommandContext): RouteSort {
  const parsed = routeSort.safeParse(stringFlag(flags, 'sort') ?? 'slowest')
  if (!parsed.success) throw new UsageError(`--sort must be one of ${routeSorts.join(', ')}.`)
  return parsed.data
}

/** The routes of a project, one per line. */
export function formatRoutes({ terminal }: CommandContext, { routes, other, is_recording }: CallOutput<'listRoutes'>): string[] {
  if (routes.length === 0) return [is_recording ? 'No requests are logged in this range.' : 'The request log of this instance is off.']
  const rows = routes.map((route) => [route.method, sanitizeLine(terminal, route.route), ...formatFigures(route)])
  if (other) rows.push(['', 'other routes', ...formatFigures(other)])
  return formatTable(terminal, ['METHOD', 'ROUTE', 'REQUESTS', 'ERRORS', 'P50', 'P95', 'P99', 'SENT'], rows)
}

const formatFigures = ({ requests, errors, error_rate, p50_ms, p95_ms, p99_ms, bytes }: Omit<RouteMetrics, 'method' | 'route'>): string[] => [
  String(requests),
  errors === 0 ? '0' : `${errors} (${Number((error_rate * 100).toPrecision(2))} %)`,
  ...[p50_ms, p95_ms, p99_ms].map((ms) => (ms < 1000 ? `${Number(ms.toPrecision(3))} ms` : `${Number((ms / 1000).toPrecision(3))} s`)),
  formatBytes(bytes),
]
