/** What this instance asked of an authority: a `new` order or the `renewal` of one, its success, and validations that failed. */
export interface AcmeAttempt {
  name: string
  kind: 'new' | 'renewal' | 'issued' | 'failed_validation'
  at: number
}

const hour_ms = 3_600_000
export const attemptHistory_ms = 7 * 24 * hour_ms

interface Limit {
  kinds: readonly AcmeAttempt['kind'][]
  of: 'account' | 'registered domain' | 'name'
  count: number
  window_ms: number
  reason: string
  /** Renewals do not count and are not refused. */
  is_for_new?: true
}

/** Below the limits that Let's Encrypt documents (300, 50, 5, 5), so that a mistake here never uses up those of the operator. */
const limits: readonly Limit[] = [
  {
    kinds: ['new', 'renewal'],
    of: 'account',
    count: 250,
    window_ms: 3 * hour_ms,
    reason: 'This instance ordered 250 certificates within three hours.',
  },
  {
    kinds: ['new'],
    of: 'registered domain',
    count: 40,
    window_ms: attemptHistory_ms,
    reason: 'This instance ordered 40 certificates for names of this domain within a week. A wildcard certificate needs only one.',
    is_for_new: true,
  },
  { kinds: ['issued'], of: 'name', count: 4, window_ms: attemptHistory_ms, reason: 'This name got four certificates within a week.' },
  { kinds: ['failed_validation'], of: 'name', count: 4, window_ms: hour_ms, reason: 'Four validations of this name failed within an hour.' },
]

/** Why the budget does not allow an order now, and when it does; undefined if it does. */
export function findBudgetRefusal(
  history: readonly AcmeAttempt[],
  order: { name: string; is_renewal: boolean },
  now: number,
): { until: number; reason: string } | undefined {
  const keyOf: Record<Limit['of'], (name: string) => string> = { account: () => '', 'registered domain': getRegisteredDomain, name: (name) => name }
  for (const { kinds, of, count, window_ms, reason, is_for_new } of limits) {
    if (is_for_new && order.is_renewal) continue
    const key = keyOf[of](order.name)
    const counted = history.filter(({ kind, name, at }) => at > now - window_ms && kinds.includes(kind) && keyOf[of](name) === key)
    const oldest = counted.toSorted((a, b) => a.at - b.at)[counted.length - count]
    if (oldest) return { until: oldest.at + window_ms, reason }
  }
  return undefined
}

const sharedSuffixes = new Set(['co', 'com', 'net', 'org', 'gov', 'ac', 'edu', 'or', 'ne', 'go', 'gob', 'gv'])

/** The domain that was registered. Of suffixes with two labels those of countries are known; of others it takes more names together than the authority. */
export function getRegisteredDomain(name: string): string {
  const labels = name.split('.')
  const isCountrySuffix = labels.at(-1)?.length === 2 && sharedSuffixes.has(labels.at(-2) ?? '')
  return labels.slice(isCountrySuffix ? -3 : -2).join('.')
}

const firstPause_ms = 300_000
const maxPause_ms = 24 * hour_ms

/** The pause after a number of failures in a row: 5, 15, 45 minutes and so on, up to a day, a fifth shorter or longer at random. */
export const getRetryPause = (failures: number, random: () => number): number =>
  Math.round(Math.min(maxPause_ms, firstPause_ms * 3 ** (failures - 1)) * (0.8 + 0.4 * random()))
