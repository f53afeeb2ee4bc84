import { formatAgo, formatDateTime, formatSince } from '../lib/format.ts'
import { useNow } from '../lib/use-now.ts'

/** Relative time, with the exact time as tooltip. */
export const RelativeTime = createTimeComponent(formatAgo)

/** Elapsed time, with the exact start as tooltip. */
export const ElapsedTime = createTimeComponent(formatSince)

function createTimeComponent(format: (iso: string, now: number) => string) {
  return function Time({ at }: { at: string }) {
    const now = useNow(30_000)
    return (
      <time dateTime={at} title={formatDateTime(at)} className="nowrap">
        {format(at, now)}
      </time>
    )
  }
}
