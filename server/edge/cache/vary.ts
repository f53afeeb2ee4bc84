/** What selects one of several answers to the same address (RFC 9111, 4.1). */

/** The fields that `Vary` names, in lower case and in order; `undefined` for `*`: then nothing may be reused. */
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
  /** All values of a field of the request in one; `undefined` when it is not there. */
  fields(name: string): string | undefined
}

/** What of the request selects the answer, with what makes no difference taken out. */
export function variantKey(request: RequestFields, names: readonly string[]): string {
  let key = ''
  for (const name of names) {
    const value = request.fields(name)
    key += `${value === undefined ? '' : `=${normalizeValue(name, value)}`}\n`
  }
  return key
}

/** Requests of the same kind come from many clients that write the same wish in many ways. */
function normalizeValue(name: string, value: string): string {
  if (name === 'accept-encoding') return normalizeCodings(value)
  if (name === 'accept-language') return sortedPreferences(value).join(',')
  return value.replace(/[ \t]*,[ \t]*/g, ',').trim()
}

/** `gzip, deflate, br` and `br;q=1.0, gzip;q=1` are the same to every app that looks for what it can do. */
const knownCodings = new Set(['br', 'gzip', 'zstd', 'deflate'])

function normalizeCodings(value: string): string {
  const accepted = sortedPreferences(value)
  if (accepted.some((one) => /^(?:identity|\*)/.test(one))) return accepted.join(',')
  return accepted.filter((one) => knownCodings.has(one.split(';')[0] ?? '')).join(',')
}

/** In order of preference, then of the alphabet: the order in which equal ones stand says nothing. */
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

/** The one language that a request likes best; `undefined` when it likes several the same. */
export function preferredLanguage(value: string | undefined): string | undefined {
  const [first, second] = parseWeighted(value ?? '')
  return first !== undefined && first.q === 1 && second?.q !== 1 && first.name !== '*' ? first.name : undefined
}
