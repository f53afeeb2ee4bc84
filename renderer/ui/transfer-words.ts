import type { Transfer } from '../api/use-upload.ts'
import { bytes, duration, percent } from './format.ts'

// Short ones are over before a time could be read.
const worthTelling_ms = 5_000

/** How far a transfer is: `12 of 48 MB (25 %), 3.1 MB/s, 12 s left`. */
export function transferWords({ sent, total, rate, left_ms }: Transfer): string {
  const parts = [`${bytes(sent)} of ${bytes(total)} (${percent(total === 0 ? 1 : Math.floor((sent / total) * 100) / 100)})`]
  if (rate !== null && left_ms !== null && left_ms > worthTelling_ms) parts.push(`${bytes(Math.round(rate))}/s`, `${duration(left_ms)} left`)
  return parts.join(', ')
}
