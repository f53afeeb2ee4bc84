import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDomainChecker } from '../../server/dns/domain-checker.ts'
import { createDomainVerifier, type DomainVerifier } from '../../server/features/domain-verifier.ts'
import { isoTime } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { type DomainView, findDomainView, insertDomain } from '../../server/store/domains.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { insertProject } from '../../server/store/projects.ts'
import { findEdgeAddress } from '../../server/bootstrap/create-domain-verifier.ts'
import { type FakeDns, startFakeDns } from '../support/fake-dns.ts'
import { projectRow } from '../support/database-rows.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

/* The hourly check of verified hostnames, on a clock that the test advances. */

const hour = 3_600_000
const ip = '203.0.113.7'
const name = 'www.example.com'
let folder: string
let store: Store
let dns: FakeDns
let verifier: DomainVerifier
let now: number
let refreshed: string[]
/** Hostnames that the verifier looked up. */
let looked: string[]
const still = createTestClock({ frozen_at: '2026-01-31T12:00:00Z' })
let project_id: string
let account_id: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-domains-'))
  store = await openStore({ data_dir: folder, after_crash: false })
  dns = await startFakeDns({ [name]: { A: [ip] } })
  now = Date.parse('2026-01-31T12:00:00Z')
  refreshed = []
  project_id = newId('prj')
  account_id = newId('acc')
  await store.db.write((tx) => {
    tx.statement(`INSERT INTO accounts (id, plan, has_payment_method, created_at) VALUES (?, 'pro', 1, ?)`).run(account_id, isoTime(now))
    insertProject(tx, projectRow({ id: project_id, account_id, name: 'shop', slug: 'shop' }, isoTime(now)))
  })
  looked = []
  verifier = createTestVerifier()
})
afterEach(async () => {
  await store.close()
  await dns.close()
  rmSync(folder, { recursive: true, force: true })
})

function createTestVerifier(): DomainVerifier {
  // The clock is frozen, so that a stalled machine does not look like a silent DNS.
  const asking = createDomainChecker({ resolvers: () => [dns.address], clock: still, timeout_ms: 60_000, hasNetwork: () => true })
  return createDomainVerifier({
    db: store.db,
    dns: {
      check(hostname, platform_ip) {
        looked.push(hostname)
        return asking.check(hostname, platform_ip)
      },
    },
    clock: { ...still, now: () => now },
    refreshHosts: (id) => refreshed.push(id),
    platformIp: () => ip,
    isPurchaseEnabled: () => false,
    instanceHostnames: () => [],
    instanceAddresses: () => ['127.0.0.1'],
  })
}

async function added(hostname = name, status: DomainView['status'] = 'pending'): Promise<string> {
  const id = newId('dom')
  const at = isoTime(now)
  await store.db.write((tx) =>
    insertDomain(tx, { id, account_id, project_id, hostname, status, verified_at: status === 'verified' ? at : null, created_at: at }),
  )
  return id
}
const view = (id: string) => store.db.readSync((tx) => findDomainView(tx, id))
const round = async (after_ms: number) => {
  now += after_ms
  await verifier.recheckDueDomains(new AbortController().signal)
}

describe('periodic checks', () => {
  test('check verified domains once a day, and no others', async () => {
    const id = await added()
    await added('pending.example.com')
    await verifier.check(id)
    expect([view(id)?.status, refreshed]).toEqual(['verified', [project_id]])
    dns.queries.length = 0
    await round(23 * hour)
    expect(dns.queries).toEqual([])
    await round(2 * hour)
    expect(dns.queries).toContain(`A ${name}`)
    expect(dns.queries.join()).not.toContain('pending')
    expect(view(id)).toMatchObject({ status: 'verified', last_check_at: isoTime(now), last_check_error: null, failed_checks: 0 })
    expect(refreshed).toEqual([project_id])
  })

  test('check a moved record hourly, and remove the domain’s verification at the third failure', async () => {
    const id = await added()
    await verifier.check(id)
    dns.zone = { [name]: { A: ['198.51.100.4'] } }
    await round(25 * hour)
    expect(view(id)).toMatchObject({ status: 'verified', failed_checks: 1, last_check_error: expect.stringContaining('198.51.100.4') })
    await round(hour)
    expect(view(id)).toMatchObject({ status: 'verified', failed_checks: 2 })
    expect(refreshed).toEqual([project_id])
    await round(hour)
    expect(view(id)).toMatchObject({ status: 'failed', verified_at: null, failed_checks: 0 })
    expect(refreshed).toEqual([project_id, project_id])
  })

  test('leave a record that points to this machine alone; a check on request does not', async () => {
    const id = await added()
    await verifier.check(id)
    dns.zone = { [name]: { A: ['127.0.0.1'] } }
    for (let i = 0; i < 4; i++) await round(25 * hour)
    expect(view(id)).toMatchObject({ status: 'verified', failed_checks: 0, last_check_error: null })
    await verifier.check(id)
    expect(view(id)?.status).toBe('failed')
  })

  test('a restored record resets the count', async () => {
    const id = await added()
    await verifier.check(id)
    dns.zone = {}
    await round(25 * hour)
    await round(hour)
    dns.zone = { [name]: { A: [ip] } }
    await round(hour)
    expect(view(id)).toMatchObject({ status: 'verified', failed_checks: 0, last_check_error: null })
  })

  test('without internet access no domain loses its verification, however long, and only one name is queried', async () => {
    const ids = [await added(name, 'verified'), await added('b.example.com', 'verified'), await added('c.example.com', 'verified')]
    dns.zone = { [name]: 'silent', 'b.example.com': 'silent', 'c.example.com': 'silent' }
    for (let i = 0; i < 4; i++) {
      looked.length = 0
      dns.queries.length = 0
      const rounded = round(25 * hour)
      await until(() => dns.queries.length > 0 || undefined, { what: 'a query' })
      await still.advance(60_000)
      await rounded
      expect(looked).toHaveLength(1)
    }
    expect(ids.map((id) => view(id)?.status)).toEqual(['verified', 'verified', 'verified'])
    expect(refreshed).toEqual([])
  })

  test('a domain deleted during its check stays deleted', async () => {
    const id = await added()
    const looking = verifier.check(id)
    await store.db.write((tx) => tx.statement('DELETE FROM domains WHERE id = ?').run(id))
    await looking
    expect(view(id)).toBeUndefined()
    expect(await verifier.check(id)).toBeUndefined()
  })
})

describe('domains that were bought here', () => {
  const buy = (account: string, expires_at: string) =>
    store.db.write((tx) =>
      tx
        .statement(
          `INSERT INTO owned_domains (id, account_id, hostname, registrar, reference, expires_at, auto_renew, created_at) VALUES (?, ?, 'bought.test', 'local', 'r', ?, 1, ?)`,
        )
        .run(newId('own'), account, expires_at, isoTime(now)),
    )

  test('need no verification, nor do their subdomains, until they expire', async () => {
    await buy(account_id, '2027-01-31T12:00:00.000Z')
    const [itself, below, beside] = [await added('bought.test'), await added('www.bought.test'), await added('notbought.test')]
    for (const id of [itself, below, beside]) await verifier.check(id)
    expect([itself, below, beside].map((id) => view(id)?.status)).toEqual(['verified', 'verified', 'failed'])
    expect(dns.queries.filter((one) => / (www\.)?bought\.test$/.test(one))).toEqual([])
    now = Date.parse('2027-02-01T00:00:00Z')
    await verifier.check(below)
    expect(view(below)?.status).toBe('failed')
  })
})

describe('the address of the edge', () => {
  const one = (address: string, internal = false) => ({ address, internal, netmask: '', family: 'IPv4' as const, mac: '', cidr: null })
  const interfaces = { lo: [one('127.0.0.1', true)], docker0: [one('172.17.0.1')], eth0: [one('192.168.1.20')] }
  const lan_addresses = () => ['192.168.1.20', 'fd00::1']
  test.each([
    ['127.0.0.1', false, '127.0.0.1'],
    ['localhost', false, '127.0.0.1'],
    ['::1', false, '127.0.0.1'],
    ['127.0.0.1', true, '192.168.1.20'],
    ['198.51.100.9', false, '198.51.100.9'],
    ['0.0.0.0', false, '192.168.1.20'],
    ['::', false, '192.168.1.20'],
  ])('bound to %s, open to the network: %s', (host, is_lan, expected) => {
    expect(findEdgeAddress({ host, is_lan, lan_addresses, interfaces })).toBe(expected)
  })
  test('a public address comes first if bound to all', () => {
    const wide = { ...interfaces, eth1: [one('198.51.100.9')] }
    expect(findEdgeAddress({ host: '0.0.0.0', is_lan: false, lan_addresses, interfaces: wide })).toBe('198.51.100.9')
    expect(findEdgeAddress({ host: '127.0.0.1', is_lan: true, lan_addresses, interfaces: wide })).toBe('192.168.1.20')
  })
})
