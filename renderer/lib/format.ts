/** A duration from milliseconds: `40 ms`, `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`. */
export function formatDuration(ms: number): string {
  if (ms < 100) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${padTwoDigits(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${padTwoDigits(Math.floor(seconds / 60) % 60)} min`
}

/** A latency: `0.42 ms`, `8.1 ms`, `140 ms`, `1.3 s`; a dash without requests. */
export function formatLatency(ms: number | null): string {
  if (ms === null) return '–'
  if (ms >= 999.5) return formatDuration(ms)
  return `${ms === 0 ? 0 : ms < 0.995 ? ms.toFixed(2) : ms < 9.95 ? ms.toFixed(1).replace(/\.0$/, '') : ms.toFixed(0)} ms`
}

/** A ratio as `12 %`. Only exact values read as 0 % or 100 %. */
export function formatPercent(share: number): string {
  if (share === 0 || share === 1) return `${share * 100} %`
  const value = share * 100
  if (value < 0.1) return '< 0.1 %'
  if (value > 99.9) return '> 99.9 %'
  return `${value < 10 || value > 99 ? value.toFixed(1) : value.toFixed(0)} %`
}

/** A number of seconds in words: `30 seconds`, `15 minutes`, `1 hour`, `2 h 30 min`. */
export function formatSeconds(count: number): string {
  for (const [size, word] of timeUnits) if (count >= size && count % size === 0) return `${count / size} ${word}${count === size ? '' : 's'}`
  return formatDuration(count * 1000)
}

const timeUnits = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** Relative time, short enough for a list. */
export function formatAgo(iso: string, now: number): string {
  const seconds = Math.round((now - Date.parse(iso)) / 1000)
  if (seconds < 45) return 'just now'
  if (seconds < 3570) return `${Math.max(1, Math.round(seconds / 60))} min ago`
  if (seconds < 84_600) return `${Math.max(1, Math.round(seconds / 3600))} h ago`
  if (seconds < 7 * 86_400) return `${Math.max(1, Math.round(seconds / 86_400))} d ago`
  return dateFormat.format(new Date(iso))
}

/** Elapsed time: `for 9 min`; for older starts the date: `since 21 Nov 2027`. */
export function formatSince(iso: string, now: number): string {
  const relative = formatAgo(iso, now)
  return relative === 'just now'
    ? 'for less than a minute'
    : relative.endsWith(' ago')
      ? `for ${relative.slice(0, -' ago'.length)}`
      : `since ${relative}`
}

const dateFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })
/** A date in local time: `21 Nov 2027`. */
export function formatDate(iso: string): string {
  return dateFormat.format(new Date(iso))
}

// All times are of 24 hours, because tables and logs show them without AM and PM.
const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

export function formatDateTime(iso: string): string {
  return exactFormat.format(new Date(iso))
}

/** `14:03:22` in local time. */
export const formatTime = (time: Date): string =>
  `${padTwoDigits(time.getHours())}:${padTwoDigits(time.getMinutes())}:${padTwoDigits(time.getSeconds())}`

/** `14:03:22.118` in local time. */
export function formatClockTime(iso: string): string {
  const time = new Date(iso)
  return `${formatTime(time)}.${String(time.getMilliseconds()).padStart(3, '0')}`
}

export function formatBytes(count: number): string {
  if (count < 1000) return `${count} B`
  if (count < 999_500) return `${(count / 1000).toFixed(0)} kB`
  if (count < 999_500_000) return `${(count / 1e6).toFixed(count < 9.95e6 ? 1 : 0)} MB`
  return `${(count / 1e9).toFixed(1)} GB`
}

export function shortenSha(sha: string): string {
  return sha.slice(0, 7)
}

/** The first line of a commit message, truncated for a title. */
export function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? ''
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}

/** A valid slug from a project name: `Mein Café №1` becomes `mein-cafe-1`. */
export function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 50)
    .replace(/-+$/, '')
}

/** The last segment of a Git URL or a path, as a project name. */
export function projectNameFromSource(address: string): string {
  const parts = address
    .replace(/[?#].*$/, '')
    .replace(/[/\\]+$/, '')
    .replace(/\.git$/, '')
    .replace(/[/\\]+$/, '')
    .split(/[/\\:]/)
  return parts.at(-1) ?? ''
}

function padTwoDigits(count: number): string {
  return String(count).padStart(2, '0')
}
