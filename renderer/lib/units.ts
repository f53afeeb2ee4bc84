/** Settings with units, as people write them: `15 min`, `1 h 30 min`, `512 MB`. */
const secondsByUnit: Record<string, number> = { s: 1, sec: 1, second: 1, min: 60, minute: 60, m: 60, h: 3600, hour: 3600, d: 86_400, day: 86_400 }
const megabytesByUnit: Record<string, number> = { mb: 1, mib: 1, gb: 1024, gib: 1024 }

/** Seconds; null for text that is no duration. A number without a unit is in seconds. */
export const parseSeconds = (text: string): number | null => parse(text, secondsByUnit, 's')

/** Megabytes; null for text that is no size. A number without a unit is in megabytes. */
export const parseMegabytes = (text: string): number | null => parse(text, megabytesByUnit, 'mb')

function parse(text: string, units: Record<string, number>, defaultUnit: string): number | null {
  const normalized = text.trim().toLowerCase()
  if (!/^(\d+(\.\d+)?\s*[a-z]*\s*)+$/.test(normalized)) return null
  let total = 0
  for (const [, count, unit = ''] of normalized.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]*)/g)) {
    const size = units[unit === '' ? defaultUnit : unit] ?? units[unit.replace(/s$/, '')]
    if (size === undefined) return null
    total += Number(count) * size
  }
  return Math.round(total)
}

export function formatSecondsWithUnits(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor((seconds % 86_400) / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    [seconds % 60, 's'],
  ] as const
  const shown = parts.filter(([count]) => count > 0)
  return shown.length === 0 ? '0 s' : shown.map(([count, unit]) => `${count} ${unit}`).join(' ')
}

export function formatMegabytes(megabytes: number): string {
  return megabytes >= 1024 && megabytes % 512 === 0 ? `${megabytes / 1024} GB` : `${megabytes} MB`
}
