import { formatAgo, formatDateTime, formatSince } from '../lib/format.ts'
import { useNow } from '../lib/use-now.ts'

/** How long ago, with the exact time on hover. */
export const RelativeTime = createTimeComponent(formatAgo)

/** For how long by now, with the exact time of its beginning on hover. */
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
