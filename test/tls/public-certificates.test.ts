import { expect, test, vi } from 'vitest'
import { silentLog } from '../../server/lib/log.ts'
import { AcmeError } from '../../server/tls/acme/acme-client.ts'
import { createPublicCertificates, type PublicCertificateRecord, type PublicCertificatesOptions } from '../../server/tls/acme/public-certificates.ts'
import type { AcmeAttempt } from '../../server/tls/acme/rate-budget.ts'
import { createAuthorityCertificate, createLeafCertificate } from '../../server/tls/certificate.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

const minute_ms = 60_000
const day_ms = 24 * 3_600_000
const name = 'shop.apps.example.com'

/** A store that a restart keeps, and an authority whose answers a test changes. Its certificates last 60 days. */
function createFixture(options: Partial<PublicCertificatesOptions> = {}) {
  const clock = createTestClock({ frozen_at: '2026-03-01T12:00:00Z' })
  const authority = createAuthorityCertificate({ machine: 'test', now: clock.now() })
  const records = new Map<string, PublicCertificateRecord>()
  let attempts: AcmeAttempt[] = []
  const issued: string[] = []
  const fixture = {
    clock,
    records,
    issued,
    get attempts() {
      return attempts
    },
    failure: undefined as Error | undefined,
    wanted: [] as string[],
    allowed: new Set([name]),
    async restart() {
      const certificates = createPublicCertificates({
        clock,
        log: silentLog,
        wildcard_domain: null,
        random: () => 0.5,
        listWantedNames: async () => fixture.wanted,
        isAllowed: async (one) => fixture.allowed.has(one),
        onChange: vi.fn(),
        async issue(host) {
          issued.push(host)
          if (fixture.failure) throw fixture.failure
          return createLeafCertificate(authority, { host, now: clock.now() })
        },
        store: {
          list: async () => [...records.values()],
          write: async (record) => void records.set(record.name, record),
          remove: async (one) => void records.delete(one),
          listAttempts: async () => attempts,
          async addAttempt(attempt, oldest) {
            attempts = [...attempts.filter(({ at }) => at >= oldest), attempt]
          },
        },
        ...options,
      })
      await certificates.load()
      certificates.start()
      return certificates
    },
  }
  return fixture
}

/** Moves the clock until a number of orders has been made. */
async function untilIssued(fixture: ReturnType<typeof createFixture>, count: number, step_ms = 1_000): Promise<void> {
  for (let steps = 0; fixture.issued.length < count; steps++) {
    if (steps > 10_000) throw new Error(`waited in vain for ${count} orders`)
    await fixture.clock.advance(step_ms)
  }
}

test('the first visitor of an allowed name causes one order, and later ones get the certificate', async () => {
  const fixture = createFixture()
  const certificates = await fixture.restart()
  expect(await Promise.all([certificates.find(name), certificates.find(name)])).toEqual([undefined, undefined])
  const found = await until(() => certificates.find(name), { what: 'the certificate' })
  expect(await certificates.find(name)).toBe(found)
  expect(fixture.issued).toEqual([name])
  expect(certificates.list()).toEqual([
    {
      name,
      status: 'issued',
      expires_at: '2026-04-30T12:00:00.000Z',
      failures: 0,
      last_error: null,
      last_attempt_at: '2026-03-01T12:00:00.000Z',
      next_attempt_at: null,
    },
  ])
  await certificates.close()
})

test('a name that is not allowed causes no order', async () => {
  const fixture = createFixture()
  const certificates = await fixture.restart()
  expect(await certificates.find('other.apps.example.com')).toBeUndefined()
  await fixture.clock.advance(10 * minute_ms)
  expect({ issued: fixture.issued, list: certificates.list() }).toEqual({ issued: [], list: [] })
  await certificates.close()
})

test('wanted names are ordered before the first visitor', async () => {
  const fixture = createFixture()
  fixture.wanted = [name, 'www.example.org']
  const certificates = await fixture.restart()
  await untilIssued(fixture, 2)
  expect(fixture.issued).toEqual([name, 'www.example.org'])
  await certificates.close()
})

test('a certificate is renewed in the last third of its life, and serves until then', async () => {
  const fixture = createFixture()
  fixture.wanted = [name]
  const certificates = await fixture.restart()
  await untilIssued(fixture, 1)
  const first = await until(() => certificates.find(name), { what: 'the certificate' })
  await fixture.clock.jump(39 * day_ms)
  await fixture.clock.advance(5 * minute_ms)
  expect(fixture.issued).toHaveLength(1)
  await fixture.clock.jump(1.1 * day_ms)
  await untilIssued(fixture, 2)
  const second = await until(async () => ((await certificates.find(name)) === first ? undefined : certificates.find(name)), { what: 'the new one' })
  expect(second).toBeDefined()
  expect(fixture.attempts.map(({ kind }) => kind)).toEqual(['renewal', 'issued'])
  await certificates.close()
})

test('a failed renewal keeps the certificate, says why, and is tried again', async () => {
  const fixture = createFixture()
  fixture.wanted = [name]
  const certificates = await fixture.restart()
  await untilIssued(fixture, 1)
  const first = await until(() => certificates.find(name), { what: 'the certificate' })
  fixture.failure = new AcmeError('connection', 'Connection refused')
  await fixture.clock.jump(41 * day_ms)
  await untilIssued(fixture, 2)
  await until(() => certificates.describe(name)?.last_error ?? undefined, { what: 'the failure' })
  expect(certificates.describe(name)).toMatchObject({
    status: 'issued',
    last_error: expect.stringMatching(/could not connect to shop\.apps\.example\.com.*Connection refused.*port 80/) as string,
  })
  expect(await certificates.find(name)).toBe(first)
  fixture.failure = undefined
  await untilIssued(fixture, 3, 30_000)
  await until(() => (certificates.describe(name)?.last_error === null ? true : undefined), { what: 'the success' })
  await certificates.close()
})

test('pauses after failures grow, also across a restart', async () => {
  const fixture = createFixture()
  fixture.wanted = [name]
  fixture.failure = new AcmeError('dns', 'NXDOMAIN')
  let certificates = await fixture.restart()
  const started_at = fixture.clock.now()
  const times: number[] = []
  for (let count = 1; count <= 4; count++) {
    await untilIssued(fixture, count, 30_000)
    times.push(Math.round((fixture.clock.now() - started_at) / minute_ms))
    await until(() => ((fixture.records.get(name)?.failures ?? 0) >= count ? true : undefined), { what: 'the failure' })
    await certificates.close()
    certificates = await fixture.restart()
  }
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0))
  expect(gaps[0]).toBeGreaterThanOrEqual(5)
  expect(gaps[1]).toBeGreaterThanOrEqual(15)
  expect(gaps[2]).toBeGreaterThanOrEqual(45)
  await certificates.close()
})

test('the authority may ask for a longer pause', async () => {
  const fixture = createFixture()
  fixture.wanted = [name]
  fixture.failure = new AcmeError('rateLimited', 'too many', { retry_after_ms: 3 * day_ms })
  const certificates = await fixture.restart()
  await untilIssued(fixture, 1)
  await until(() => certificates.describe(name), { what: 'the failure' })
  expect(certificates.describe(name)).toMatchObject({ status: 'failed', next_attempt_at: expect.stringMatching(/^2026-03-04T12:00/) as string })
  expect(fixture.attempts.map(({ kind }) => kind)).toEqual(['new'])
  await certificates.close()
})

test('visitors of a name that fails cause no more orders than its pauses and the budget allow', async () => {
  const fixture = createFixture()
  fixture.failure = new AcmeError('unauthorized', 'wrong answer')
  let certificates = await fixture.restart()
  // A user who presses a button forgets the pause, but not the budget.
  for (let i = 0; i < 300; i++) {
    await certificates.find(name)
    await fixture.clock.advance(10_000)
    await certificates.retry(name)
    if (i === 150) {
      await certificates.close()
      certificates = await fixture.restart()
    }
  }
  // Four in an hour of 50 minutes.
  expect(fixture.issued).toHaveLength(4)
  expect(certificates.describe(name)?.last_error).toMatch(/Four validations of this name failed within an hour\./)
  await certificates.close()
})

test('with a wildcard, all names below the domain share one certificate', async () => {
  const fixture = createFixture({ wildcard_domain: 'apps.example.com' })
  fixture.allowed = new Set(['*.apps.example.com', 'www.example.org'])
  const certificates = await fixture.restart()
  for (const host of ['a.apps.example.com', 'b.apps.example.com', 'www.example.org']) await certificates.find(host)
  await until(() => certificates.find('www.example.org'), { what: 'both certificates' })
  expect(fixture.issued).toEqual(['*.apps.example.com', 'www.example.org'])
  expect(await certificates.find('c.apps.example.com')).toBe(await certificates.find('a.apps.example.com'))
  await certificates.close()
})

test('the certificate of a name that is no longer served is not renewed, and forgotten when it has expired', async () => {
  const fixture = createFixture()
  const certificates = await fixture.restart()
  await certificates.find(name)
  await until(() => certificates.find(name), { what: 'the certificate' })
  fixture.allowed.clear()
  await fixture.clock.jump(61 * day_ms)
  await until(() => (fixture.records.size === 0 ? true : fixture.clock.advance(minute_ms).then(() => undefined)), { what: 'the end of the row' })
  expect({ issued: fixture.issued, list: certificates.list() }).toEqual({ issued: [name], list: [] })
  await certificates.close()
})
