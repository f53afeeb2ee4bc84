import { duration } from './format.ts'
import './scale-bar.css'

export interface Stretch {
  name: string
  /** Milliseconds. */
  ms: number
  state: 'done' | 'running' | 'failed'
}

/** Time as the edge of a chart shows distance: one stretch after the other, alternately filled, as long as each took. */
export function ScaleBar({ stretches, label }: { stretches: Stretch[]; label: string }) {
  const shown = stretches.filter((stretch) => stretch.ms > 0)
  const total = shown.reduce((sum, { ms }) => sum + ms, 0)
  if (total === 0) return null
  return (
    <div className="scale-bar" role="img" aria-label={`${label}: ${shown.map(({ name, ms }) => `${name} ${duration(ms)}`).join(', ')}`}>
      {shown.map(({ name, ms, state }) => (
        // A stretch keeps a few pixels, however short: it was there.
        <span key={name} className={`stretch stretch-${state}`} style={{ flexGrow: Math.max(ms / total, 0.012) }} title={`${name} ${duration(ms)}`} />
      ))}
    </div>
  )
}
