/** Pixels to the left of a chart's values, for the numbers of its axis. */
export const chartMargin = 46

/** Three to five round ticks from 0 to at least `max`: 0, 50, 100, 150. */
export function ticks(max: number): number[] {
  if (!(max > 0)) return [0, 1]
  const rough = max / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
  const count = Math.ceil(max / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

/** The same for counts: ticks are whole numbers. */
export function integerTicks(max: number): number[] {
  return [...new Set(ticks(Math.max(1, max)).map(Math.ceil))]
}

/** Compact number for an axis: 1,234 stays, 12 345 is 12.3k. */
export function formatCompact(value: number): string {
  if (value < 10_000) return value.toLocaleString()
  if (value < 999_500) return `${trimTrailingZero(value / 1000)}k`
  return `${trimTrailingZero(value / 1e6)}M`
}

function trimTrailingZero(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0).replace(/\.0$/, '')
}

export interface TimeLabel {
  index: number
  text: string
}

/** Positions of time labels on the axis, in local time, as many as fit. */
export function timeLabels(starts: readonly string[], bucketSeconds: number, maxLabels: number): TimeLabel[] {
  const hours =
    bucketSeconds < 900
      ? [1 / 60, 2 / 60, 5 / 60, 10 / 60, 15 / 60, 30 / 60, 1, 2]
      : bucketSeconds < 3600
        ? [1, 2, 3, 6, 12, 24]
        : bucketSeconds < 6 * 3600
          ? [24, 48, 72]
          : [24, 72, 120, 240]
  const total = (starts.length * bucketSeconds) / 3600
  const interval_h = hours.find((step) => total / step <= maxLabels) ?? hours.at(-1) ?? 24
  const interval_s = Math.round(interval_h * 3600)
  const labels: TimeLabel[] = []
  let last = ''
  starts.forEach((start, index) => {
    const time = new Date(start)
    const secondOfDay = time.getHours() * 3600 + time.getMinutes() * 60 + time.getSeconds()
    const isDayStart = secondOfDay < bucketSeconds
    if (interval_h >= 24 ? !isDayStart : secondOfDay % interval_s !== 0) return
    if (interval_h > 24 && Math.round(dayNumber(time)) % (interval_h / 24) !== 0) return
    const text = interval_h >= 24 || isDayStart ? dayFormat.format(time) : hourFormat.format(time)
    // An hour repeats when daylight saving time ends.
    if (text === last) return
    last = text
    labels.push({ index, text })
  })
  return labels
}

/** `14:15 to 14:30`, with seconds for shorter buckets. */
export function formatTimeRange(start: string, seconds: number): string {
  const from = new Date(start)
  const to = new Date(from.getTime() + seconds * 1000)
  const timeFormat = seconds < 60 ? secondFormat : hourFormat
  return `${weekdayFormat.format(from)}, ${timeFormat.format(from)} to ${timeFormat.format(to)}`
}

function dayNumber(time: Date): number {
  return (time.getTime() - time.getTimezoneOffset() * 60_000) / 86_400_000
}

const hourFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const secondFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const weekdayFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' })
