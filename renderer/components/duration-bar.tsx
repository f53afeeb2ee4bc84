import { formatDuration } from '../lib/format.ts'
import './duration-bar.css'

export interface DurationSegment {
  name: string
  /** Milliseconds. */
  ms: number
  state: 'done' | 'running' | 'failed'
}

/** Time as the edge of a chart shows distance: one stretch after the other, alternately filled, as long as each took. */
export function DurationBar({ segments, label }: { segments: DurationSegment[]; label: string }) {
  const shown = segments.filter((segment) => segment.ms > 0)
  const total = shown.reduce((sum, { ms }) => sum + ms, 0)
  if (total === 0) return null
  return (
    <div className="duration-bar" role="img" aria-label={`${label}: ${shown.map(({ name, ms }) => `${name} ${formatDuration(ms)}`).join(', ')}`}>
      {shown.map(({ name, ms, state }) => (
        // A stretch keeps a few pixels, however short: it was there.
        <span
          key={name}
          className={`bar-segment bar-segment-${state}`}
          style={{ flexGrow: Math.max(ms / total, 0.012) }}
          title={`${name} ${formatDuration(ms)}`}
        />
      ))}
    </div>
  )
}
