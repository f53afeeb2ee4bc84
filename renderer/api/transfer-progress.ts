import type { Transfer } from './use-upload.ts'
import { formatBytes, formatDuration, formatPercent } from '../lib/format.ts'

// Transfers that finish sooner show no remaining time.
const minRemaining_ms = 5_000

/** Progress of a transfer: `12 of 48 MB (25 %), 3.1 MB/s, 12 s left`. */
export function formatTransfer({ sent, total, rate, remaining_ms }: Transfer): string {
  const parts = [`${formatBytes(sent)} of ${formatBytes(total)} (${formatPercent(total === 0 ? 1 : Math.floor((sent / total) * 100) / 100)})`]
  if (rate !== null && remaining_ms !== null && remaining_ms > minRemaining_ms)
    parts.push(`${formatBytes(Math.round(rate))}/s`, `${formatDuration(remaining_ms)} left`)
  return parts.join(', ')
}
