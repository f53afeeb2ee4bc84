import { ago, exactTime } from './format.ts'
import { useNow } from './now.ts'

/** How long ago, with the exact time on hover. */
export function Ago({ at }: { at: string }) {
  const now = useNow(30_000)
  return (
    <time dateTime={at} title={exactTime(at)} className="nowrap">
      {ago(at, now)}
    </time>
  )
}
