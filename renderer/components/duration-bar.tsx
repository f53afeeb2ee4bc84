import type { DurationSegment } from '../lib/deployment-progress.ts'
import { formatDuration } from '../lib/format.ts'
import styles from './duration-bar.module.css'

/** A bar with one segment per phase, proportional to its duration. */
export function DurationBar({ segments, label }: { segments: DurationSegment[]; label: string }) {
  const shown = segments.filter((segment) => segment.ms > 0)
  const total = shown.reduce((sum, { ms }) => sum + ms, 0)
  if (total === 0) return null
  return (
    <div
      className={styles.durationBar}
      role="img"
      aria-label={`${label}: ${shown.map(({ name, ms }) => `${name} ${formatDuration(ms)}`).join(', ')}`}
    >
      {shown.map(({ name, ms, state }) => (
        // A segment keeps a minimum width of a few pixels.
        <span
          key={name}
          className={`${styles.barSegment} ${styles[`bar-segment-${state}`] ?? ''}`}
          style={{ flexGrow: Math.max(ms / total, 0.012) }}
          title={`${name} ${formatDuration(ms)}`}
        />
      ))}
    </div>
  )
}
