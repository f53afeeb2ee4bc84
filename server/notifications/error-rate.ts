/** Counts of a project in one bucket of the metrics, which grow while the bucket is the current one. */
interface BucketCounts {
  ts: number
  requests: number
  status_5xx: number
}

interface Sample {
  at_ms: number
  requests: number
  errors: number
}

const maxAge_ms = 61 * 60_000

/**
 * Requests and failures of the last minutes. The metrics have a row for each quarter of an hour, so that shorter times come from the differences
 * between readings that are taken every minute.
 */
export function createErrorRateWindow() {
  let seen: Map<number, BucketCounts> | undefined
  let startedAt_ms = 0
  let samples: Sample[] = []

  return {
    /** Adds what is new in the rows since the last reading. The first reading is the baseline. */
    add(rows: readonly BucketCounts[], now_ms: number): void {
      if (seen === undefined) startedAt_ms = now_ms
      else {
        let [requests, errors] = [0, 0]
        for (const row of rows) {
          const before = seen.get(row.ts)
          requests += row.requests - (before?.requests ?? 0)
          errors += row.status_5xx - (before?.status_5xx ?? 0)
        }
        samples = [...samples.filter(({ at_ms }) => now_ms - at_ms < maxAge_ms), { at_ms: now_ms, requests, errors }]
      }
      seen = new Map(rows.map((row) => [row.ts, row]))
    },

    /** Undefined while the project was not watched for this long. */
    read(minutes: number, now_ms: number): { requests: number; errors: number } | undefined {
      const since_ms = now_ms - minutes * 60_000
      if (startedAt_ms > since_ms) return undefined
      const recent = samples.filter(({ at_ms }) => at_ms > since_ms)
      return { requests: recent.reduce((sum, one) => sum + one.requests, 0), errors: recent.reduce((sum, one) => sum + one.errors, 0) }
    },
  }
}
