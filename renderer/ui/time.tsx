import { ago, exactTime, since } from './format.ts'
import { useNow } from './now.ts'

/** How long ago, with the exact time on hover. */
export const Ago = timeIn(ago)

/** For how long by now, with the exact time of its beginning on hover. */
export const Since = timeIn(since)

function timeIn(words: (iso: string, now: number) => string) {
  return function Time({ at }: { at: string }) {
    const now = useNow(30_000)
    return (
      <time dateTime={at} title={exactTime(at)} className="nowrap">
        {words(at, now)}
      </time>
    )
  }
}
