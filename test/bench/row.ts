/** One line of the table that `npm run bench` prints. */
export interface BenchRow {
  /** What is measured: `edge 1 kB`. */
  name: string
  /** The server: `homeport`, `nginx`, `caddy`. */
  who: string
  /** The result (median over the rounds) and its unit; null if it could not be measured. */
  value: number | null
  unit: string
  /** Relative to the peer of the bar: more is better. */
  ratios: Record<string, number>
  /** CPU time per request in microseconds, if measured. */
  cpu_us?: number
  /** The bar that must hold, as text, and whether it did. */
  bar?: string
  ok?: boolean
  /** Why a peer or a figure is missing. */
  note?: string
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? (sorted[middle] ?? NaN) : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}
