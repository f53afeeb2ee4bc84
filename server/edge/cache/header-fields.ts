/** Parsing and editing of header lines: `Name: value\r\n` each, in latin1, as received. */

const fieldPatterns = new Map<string, RegExp>()

/** A cached pattern that matches the values of a field. */
function fieldPattern(name: string): RegExp {
  let pattern = fieldPatterns.get(name)
  if (pattern === undefined) {
    pattern = new RegExp(`^${name.replace(/[^a-z0-9-]/g, '\\$&')}:[ \\t]*(.*?)[ \\t]*$`, 'gim')
    if (fieldPatterns.size > 1000) fieldPatterns.clear()
    fieldPatterns.set(name, pattern)
  }
  pattern.lastIndex = 0
  return pattern
}

/** The values of a field, one per line. Names are in lower case. */
export function fieldValues(lines: string, name: string): string[] {
  const values: string[] = []
  const pattern = fieldPattern(name)
  for (let found = pattern.exec(lines); found !== null; found = pattern.exec(lines)) values.push(found[1] ?? '')
  return values
}

/** The first value of a field. */
export const fieldValue = (lines: string, name: string): string | undefined => fieldPattern(name).exec(lines)?.[1]

/** All lines except those of the omitted fields. */
export function omitFields(lines: string, isOmitted: (name: string) => boolean): string {
  let remaining = ''
  for (let at = 0; at < lines.length;) {
    const next = lines.indexOf('\r\n', at) + 2
    if (next < 2) return remaining
    const colon = lines.indexOf(':', at)
    if (!isOmitted(lines.slice(at, colon).toLowerCase())) remaining += lines.slice(at, next)
    at = next
  }
  return remaining
}

/** The names of all fields, in lower case. */
export function fieldNames(lines: string): Set<string> {
  const names = new Set<string>()
  for (const found of lines.matchAll(/^([^:\r\n]+):/gm)) names.add((found[1] ?? '').toLowerCase())
  return names
}

/** Edits a request head: removes the omitted fields and appends `add`. */
export function editRequestHead(head: string, isOmitted: (name: string) => boolean, add: string): string {
  const first = head.indexOf('\r\n') + 2
  return `${head.slice(0, first)}${omitFields(head.slice(first, -2), isOmitted)}${add}\r\n`
}

export type CacheDirectives = Map<string, string | true>

/**
 * Cache-Control directives by name in lower case. The first of several equal directives counts, but a plain `no-cache` or `private` overrides one
 * with field names.
 */
export function parseDirectives(values: readonly string[]): CacheDirectives {
  const directives: CacheDirectives = new Map()
  const pattern = /([^\s,;="]+)(?:=("(?:[^"\\]|\\.)*"|[^,]*))?[^,]*(?:,|$)/g
  for (const value of values)
    for (const found of value.matchAll(pattern)) {
      const name = (found[1] ?? '').toLowerCase()
      const argument = found[2] === undefined ? true : unquote(found[2].trim())
      if (!directives.has(name) || (argument === true && (name === 'no-cache' || name === 'private'))) directives.set(name, argument)
    }
  return directives
}

const unquote = (text: string): string => (/^".*"$/.test(text) ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text)

/** The maximum lifetime (RFC 9111 §1.2.2). */
const max_delta_s = 2 ** 31

/** Seconds; `undefined` if the directive is missing, 0 (never fresh) if its value is invalid. */
export function directiveSeconds(directives: CacheDirectives, name: string): number | undefined {
  const text = directives.get(name)
  if (text === undefined) return undefined
  return text !== true && /^\d+$/.test(text) ? Math.min(Number(text), max_delta_s) : 0
}

/** A targeted field (RFC 9213): a dictionary of structured fields. `undefined` if it is empty or malformed, in which case it is ignored. */
export function parseTargetedDirectives(values: readonly string[]): CacheDirectives | undefined {
  if (values.length === 0) return undefined
  const directives: CacheDirectives = new Map()
  const member =
    /[ \t]*([a-z*][a-z0-9_.*-]*)(?:=("(?:[^"\\]|\\["\\])*"|\?[01]|-?\d{1,15}|[A-Za-z*][\w!#$%&'*+.^`|~:/-]*))?(?:;[ ]*[a-z*][a-z0-9_.*-]*(?:=[^,;"]+)?)*[ \t]*(?:,|$)/y
  const text = values.join(', ')
  while (member.lastIndex < text.length) {
    const found = member.exec(text)
    if (found === null) return undefined
    const [, name = '', argument] = found
    if (argument === '?0') directives.delete(name)
    else directives.set(name, argument === undefined || argument === '?1' ? true : unquote(argument))
  }
  return directives.size > 0 ? directives : undefined
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const imfFixdate = /^[a-z]{3}, (\d{2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const rfc850Date = /^[a-z]{6,9}, (\d{2})-([a-z]{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const asctimeDate = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/i

/** An HTTP date in one of its three formats, in ms; `undefined` for anything else. */
export function parseHttpDate(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const full = imfFixdate.exec(text)
  if (full) return toUtc(full[3], full[2], full[1], full[4], full[5], full[6])
  const short = rfc850Date.exec(text)
  if (short) {
    // A two-digit year that appears to be more than 50 years in the future is in the past (RFC 9110 §5.6.7).
    const century = Math.floor(new Date(now).getUTCFullYear() / 100) * 100
    const year = century + Number(short[3])
    return toUtc(String(year > new Date(now).getUTCFullYear() + 50 ? year - 100 : year), short[2], short[1], short[4], short[5], short[6])
  }
  const plain = asctimeDate.exec(text)
  return plain ? toUtc(plain[6], plain[1], plain[2], plain[3], plain[4], plain[5]) : undefined
}

function toUtc(...parts: (string | undefined)[]): number | undefined {
  const [year, month, day, hour, minute, second] = parts
  const index = months.indexOf((month ?? '').toLowerCase())
  if (index < 0) return undefined
  const time = Date.UTC(Number(year), index, Number(day), Number(hour), Number(minute), Number(second))
  return Number.isNaN(time) ? undefined : time
}
