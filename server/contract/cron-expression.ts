const named = new Map(
  Object.entries({
    '@yearly': '0 0 1 1 *',
    '@annually': '0 0 1 1 *',
    '@monthly': '0 0 1 * *',
    '@weekly': '0 0 * * 0',
    '@daily': '0 0 * * *',
    '@midnight': '0 0 * * *',
    '@hourly': '0 * * * *',
  }),
)

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const days = 'sun mon tue wed thu fri sat'.split(' ')
interface CronField {
  label: string
  min: number
  max: number
  names: { words: string[]; first: number }
}
const none = { words: [], first: 0 }
const fields: CronField[] = [
  { label: 'second', min: 0, max: 59, names: none },
  { label: 'minute', min: 0, max: 59, names: none },
  { label: 'hour', min: 0, max: 23, names: none },
  { label: 'day of the month', min: 1, max: 31, names: none },
  { label: 'month', min: 1, max: 12, names: { words: months, first: 1 } },
  { label: 'day of the week', min: 0, max: 7, names: { words: days, first: 0 } },
]

/** Converts `@daily` and similar names to five fields; white space becomes single spaces. */
export function normalizeCronExpression(text: string): string {
  const trimmed = text.trim()
  return named.get(trimmed.toLowerCase()) ?? trimmed.split(/\s+/).join(' ')
}

/** The problem with a cron expression, or undefined. Five fields, or six with seconds first; `*`, lists, ranges, steps and English names. */
export function validateCronExpression(text: string): string | undefined {
  if (text.length > 200) return 'A schedule has at most 200 characters.'
  const parts = normalizeCronExpression(text).split(' ')
  if (parts.length !== 5 && parts.length !== 6)
    return 'A schedule has five fields, such as 0 3 * * * for every day at 3:00, or six with seconds first.'
  for (const [index, part] of parts.entries()) {
    const field = fields[index + 6 - parts.length]!
    if (!part.split(',').every((one) => isCronPart(one, field)))
      return `“${part}” is not a ${field.label} of a schedule. Use *, numbers from ${field.min} to ${field.max}, ranges such as 1-5 and steps such as */10.`
  }
  return undefined
}

function isCronPart(text: string, field: CronField): boolean {
  const [range = '', step, ...rest] = text.split('/')
  if (rest.length > 0 || (step !== undefined && (!/^\d{1,3}$/.test(step) || Number(step) < 1))) return false
  if (range === '*') return true
  const [first = '', last, ...more] = range.split('-')
  if (step !== undefined && last === undefined) return false
  const from = parseCronValue(first, field)
  const to = last === undefined ? from : parseCronValue(last, field)
  return more.length === 0 && from !== undefined && to !== undefined && from <= to
}

function parseCronValue(text: string, { min, max, names }: CronField): number | undefined {
  const index = names.words.indexOf(text.toLowerCase())
  const value = index >= 0 ? index + names.first : /^\d{1,2}$/.test(text) ? Number(text) : NaN
  return value >= min && value <= max ? value : undefined
}
