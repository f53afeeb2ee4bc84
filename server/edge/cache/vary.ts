/** Selection among several responses of one URL (RFC 9111 §4.1). */

/** The fields of `Vary`, in lower case and sorted; `undefined` for `*`, which forbids any reuse. */
export function parseVary(values: readonly string[]): readonly string[] | undefined {
  if (values.length === 0) return noNames
  const names = new Set<string>()
  for (const value of values)
    for (const part of value.split(',')) {
      const name = part.trim().toLowerCase()
      if (name === '*') return undefined
      if (name !== '') names.add(name)
    }
  return names.size === 0 ? noNames : [...names].sort()
}

export const noNames: readonly string[] = []

export interface RequestFields {
  /** All values of a request field, joined; `undefined` if it is missing. */
  fields(name: string): string | undefined
}

/** The key of the request fields that select a response, normalized. */
export function variantKey(request: RequestFields, names: readonly string[]): string {
  let key = ''
  for (const name of names) {
    const value = request.fields(name)
    key += `${value === undefined ? '' : `=${normalizeValue(name, value)}`}\n`
  }
  return key
}

/** Normalizes a value, because clients write equivalent preferences differently. */
function normalizeValue(name: string, value: string): string {
  if (name === 'accept-encoding') return normalizeCodings(value)
  if (name === 'accept-language') return sortedPreferences(value).join(',')
  return value.replace(/[ \t]*,[ \t]*/g, ',').trim()
}

/** `gzip, deflate, br` and `br;q=1.0, gzip;q=1` are equivalent to every app that negotiates codings. */
const knownCodings = new Set(['br', 'gzip', 'zstd', 'deflate'])

function normalizeCodings(value: string): string {
  const accepted = sortedPreferences(value)
  if (accepted.some((coding) => /^(?:identity|\*)/.test(coding))) return accepted.join(',')
  return accepted.filter((coding) => knownCodings.has(coding.split(';')[0] ?? '')).join(',')
}

/** Sorted by preference, then alphabetically, because the order of equal preferences has no meaning. */
function sortedPreferences(value: string): string[] {
  return parseWeighted(value).map(({ name, q }) => (q === 1 ? name : `${name};q=${q}`))
}

function parseWeighted(value: string): { name: string; q: number }[] {
  return value
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
      const q = Number(parameters.find((parameter) => /^q *=/.test(parameter))?.split('=')[1] ?? 1)
      return { name, q: Number.isNaN(q) ? 1 : q }
    })
    .sort((a, b) => b.q - a.q || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

/** The single most preferred language; `undefined` if several are equally preferred. */
export function preferredLanguage(value: string | undefined): string | undefined {
  const [first, second] = parseWeighted(value ?? '')
  return first !== undefined && first.q === 1 && second?.q !== 1 && first.name !== '*' ? first.name : undefined
}
