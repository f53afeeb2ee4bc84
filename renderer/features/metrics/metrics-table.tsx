import type { MetricsHistory } from '../../../server/contract/project-metrics.ts'
import { formatTimeRange } from '../../lib/chart-scale.ts'
import { formatBytes, formatLatency } from '../../lib/format.ts'
import styles from './page.module.css'

/** The charts as a table, for exact values and screen readers. Buckets without requests are omitted. */
export function MetricsTable({ metrics }: { metrics: MetricsHistory }) {
  const rows = metrics.buckets.filter(({ requests, cold_starts }) => requests > 0 || cold_starts > 0).toReversed()
  return (
    <details className={`card ${styles.metricsTable}`}>
      <summary>Show as table</summary>
      <div className={styles.table} tabIndex={0} role="region" aria-label="Metrics as a table">
        <table>
          <thead>
            <tr>
              {['Time', 'Requests', '2xx', '3xx', '4xx', '5xx', 'p50', 'p95', 'p99', 'Sent', 'Hits', 'Misses', 'Bypass', 'Cold starts'].map(
                (name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.ts}>
                <th scope="row">{formatTimeRange(row.ts, metrics.bucket_seconds)}</th>
                {[row.requests, row.status_2xx, row.status_3xx, row.status_4xx, row.status_5xx].map((value, index) => (
                  <td key={index}>{value.toLocaleString()}</td>
                ))}
                {[row.p50_ms, row.p95_ms, row.p99_ms].map((value, index) => (
                  <td key={index}>{formatLatency(value)}</td>
                ))}
                <td>{formatBytes(row.bytes_out)}</td>
                {[row.cache_hits, row.cache_misses, row.cache_bypass, row.cold_starts].map((value, index) => (
                  <td key={index}>{value.toLocaleString()}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
