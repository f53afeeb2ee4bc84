import { describe, expect, test } from 'vitest'
import { type AcmeAttempt, findBudgetRefusal, getRegisteredDomain, getRetryPause } from '../../server/tls/acme/rate-budget.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const minute_ms = 60_000
const hour_ms = 60 * minute_ms
const day_ms = 24 * hour_ms
const repeat = (count: number, kind: AcmeAttempt['kind'], at: number, name = (i: number) => `n${i}.example.com`): AcmeAttempt[] =>
  Array.from({ length: count }, (_, i) => ({ name: name(i), kind, at }))
const refuse = (history: AcmeAttempt[], order: Partial<{ name: string; is_renewal: boolean }> = {}) =>
  findBudgetRefusal(history, { name: 'www.example.com', is_renewal: false, ...order }, now)

describe('the budget', () => {
  test('allows the first order', () => expect(refuse([])).toBeUndefined())

  test.each<[string, AcmeAttempt[], number, RegExp]>([
    ['new names of a domain', repeat(40, 'new', now - day_ms), now + 6 * day_ms, /40 certificates for names of this domain/],
    ['orders of the account', repeat(250, 'renewal', now - hour_ms, (i) => `a${i}.org`), now + 2 * hour_ms, /250 certificates within three hours/],
    ['certificates of a name', repeat(4, 'issued', now - day_ms, () => 'www.example.com'), now + 6 * day_ms, /four certificates/],
    ['failed validations', repeat(4, 'failed_validation', now - 10 * minute_ms, () => 'www.example.com'), now + 50 * minute_ms, /validations/],
  ])('refuses more %s until the window has passed', (_, history, until, reason) => {
    expect(refuse(history.slice(1))).toBeUndefined()
    expect(refuse(history)).toEqual({ until, reason: expect.stringMatching(reason) as string })
    expect(refuse(history.map((one) => ({ ...one, at: one.at - (until - now) })))).toBeUndefined()
  })

  test('of several attempts, the oldest that counts decides when the next one is possible', () => {
    const history = [5, 20, 30, 40, 59].map((minutes) => ({
      name: 'www.example.com',
      kind: 'failed_validation' as const,
      at: now - minutes * minute_ms,
    }))
    expect(refuse(history)?.until).toBe(now - 40 * minute_ms + hour_ms)
  })

  test('renewals are not refused for the number of names of their domain', () =>
    expect(refuse(repeat(40, 'new', now - day_ms), { is_renewal: true })).toBeUndefined())

  test('counts names of other domains separately', () => {
    expect(refuse(repeat(40, 'new', now - day_ms), { name: 'www.example.org' })).toBeUndefined()
    expect(refuse(repeat(4, 'failed_validation', now - minute_ms, () => 'other.example.com'))).toBeUndefined()
  })
})

test.each([
  ['a.b.example.com', 'example.com'],
  ['*.apps.example.com', 'example.com'],
  ['www.shop.co.uk', 'shop.co.uk'],
  ['www.shop.com.au', 'shop.com.au'],
  ['www.co.com', 'co.com'],
  ['www.db.de', 'db.de'],
])('the registered domain of %s is %s', (name, domain) => expect(getRegisteredDomain(name)).toBe(domain))

test('pauses grow up to a day, and differ at random', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 60].map((failures) => getRetryPause(failures, () => 0.5) / minute_ms)).toEqual([5, 15, 45, 135, 405, 1215, 1440, 1440])
  expect([getRetryPause(1, () => 0), getRetryPause(1, () => 1)]).toEqual([4 * minute_ms, 6 * minute_ms])
})
