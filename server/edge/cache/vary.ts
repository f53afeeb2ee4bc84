/** What selects one of several answers to the same address (RFC 9111, 4.1). */

/** The fields that `Vary` names, in lower case and in order; `undefined` for `*`: then nothing may be reused. */
export function readVary(values: readonly string[]): readonly string[] | undefined {
  if (values.length === 0) return none
  const names = new Set<string>()
  for (const value of values)
    for (const part of value.split(',')) {
      const name = part.trim().toLowerCase()
      if (name === '*') return undefined
      if (name !== '') names.add(name)
    }
  return names.size === 0 ? none : [...names].sort()
}

export const none: readonly string[] = []

export interface Fields {
  /** All values of a field of the request in one; `undefined` when it is not there. */
  fields(name: string): string | undefined
}

/** What of the request selects the answer, with what makes no difference taken out. */
export function variantOf(request: Fields, names: readonly string[]): string {
  let key = ''
  for (const name of names) {
    const value = request.fields(name)
    key += `${value === undefined ? '' : `=${normalize(name, value)}`}\n`
  }
  return key
}

/** Requests of the same kind come from many clients that write the same wish in many ways. */
function normalize(name: string, value: string): string {
  if (name === 'accept-encoding') return codings(value)
  if (name === 'accept-language') return preferences(value).join(',')
  return value.replace(/[ \t]*,[ \t]*/g, ',').trim()
}

/** `gzip, deflate, br` and `br;q=1.0, gzip;q=1` are the same to every app that looks for what it can do. */
const known = new Set(['br', 'gzip', 'zstd', 'deflate'])

function codings(value: string): string {
  const wanted = preferences(value)
  if (wanted.some((one) => /^(?:identity|\*)/.test(one))) return wanted.join(',')
  return wanted.filter((one) => known.has(one.split(';')[0] ?? '')).join(',')
}

/** In order of preference, then of the alphabet: the order in which equal ones stand says nothing. */
function preferences(value: string): string[] {
  return weighed(value).map(({ name, q }) => (q === 1 ? name : `${name};q=${q}`))
}

function weighed(value: string): { name: string; q: number }[] {
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
export function favouriteLanguage(value: string | undefined): string | undefined {
  const [first, second] = weighed(value ?? '')
  return first !== undefined && first.q === 1 && second?.q !== 1 && first.name !== '*' ? first.name : undefined
}
