/** One difference between two JSON values. `path` is empty for the values themselves. */
export interface JsonChange {
  path: string
  kind: 'added' | 'removed' | 'changed'
  /** As JSON; null if the value does not exist. */
  before: string | null
  after: string | null
}

export type BodyComparison =
  | { kind: 'same' }
  | { kind: 'json'; changes: JsonChange[]; is_complete: boolean }
  /** At least one of the bodies is not JSON. */
  | { kind: 'different' }

const maxChanges = 500
const maxDepth = 50

interface ComparedBody {
  body: string | null
  encoding: 'text' | 'base64'
}

/** Compares two bodies: as JSON where both are, regardless of white space and of the order of keys. */
export function compareBodies(before: ComparedBody, after: ComparedBody): BodyComparison {
  if (before.body === after.body && before.encoding === after.encoding) return { kind: 'same' }
  const values = [before, after].map(parseBody)
  const [first, second] = values
  if (first === undefined || second === undefined) return { kind: 'different' }
  const changes = diffJson(first.value, second.value)
  return changes.length === 0 ? { kind: 'same' } : { kind: 'json', changes: changes.slice(0, maxChanges), is_complete: changes.length <= maxChanges }
}

function parseBody({ body, encoding }: ComparedBody): { value: unknown } | undefined {
  if (body === null || encoding !== 'text') return undefined
  try {
    return { value: JSON.parse(body) as unknown }
  } catch {
    return undefined
  }
}

/** The differences in the order of the keys. Elements of lists are compared by their position. */
export function diffJson(before: unknown, after: unknown): JsonChange[] {
  const changes: JsonChange[] = []
  compare(before, after, '', 0, changes)
  return changes
}

function compare(before: unknown, after: unknown, path: string, depth: number, changes: JsonChange[]): void {
  if (changes.length > maxChanges || Object.is(before, after)) return
  if (depth < maxDepth && isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    const isList = Array.isArray(before)
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const inner = isList
        ? `${path}[${key}]`
        : /^[A-Za-z_$][\w$]*$/.test(key)
          ? path === ''
            ? key
            : `${path}.${key}`
          : `${path}[${JSON.stringify(key)}]`
      if (!Object.hasOwn(before, key)) changes.push({ path: inner, kind: 'added', before: null, after: JSON.stringify(read(after, key)) })
      else if (!Object.hasOwn(after, key)) changes.push({ path: inner, kind: 'removed', before: JSON.stringify(read(before, key)), after: null })
      else compare(read(before, key), read(after, key), inner, depth + 1, changes)
    }
    return
  }
  const [from, to] = [JSON.stringify(before), JSON.stringify(after)]
  if (from !== to) changes.push({ path, kind: 'changed', before: from, after: to })
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null
const read = (value: object, key: string): unknown => (value as Record<string, unknown>)[key]

export interface HeaderChange {
  name: string
  before: string | null
  after: string | null
}

/** Headers that differ between any two responses. */
const volatileHeaders = new Set([
  'date',
  'x-request-id',
  'age',
  'cache-status',
  'x-cache',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
])

/** The headers that differ, without those that always do. Names in lower case. */
export function diffHeaders(before: readonly (readonly [string, string])[], after: readonly (readonly [string, string])[]): HeaderChange[] {
  const [first, second] = [groupHeaders(before), groupHeaders(after)]
  return [...new Set([...first.keys(), ...second.keys()])]
    .filter((name) => first.get(name) !== second.get(name))
    .toSorted()
    .map((name) => ({ name, before: first.get(name) ?? null, after: second.get(name) ?? null }))
}

function groupHeaders(headers: readonly (readonly [string, string])[]): Map<string, string> {
  const groups = new Map<string, string>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    const before = groups.get(key)
    if (!volatileHeaders.has(key)) groups.set(key, before === undefined ? value : `${before}, ${value}`)
  }
  return groups
}
