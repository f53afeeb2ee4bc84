import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDomainOrders, type DomainOrderDeps, type DomainOrders, type DomainPurchase } from '../../server/optional/domain-sales/orders.ts'
import { createDomainRenewals } from '../../server/optional/domain-sales/renewals.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createRegistrars } from '../../server/optional/registrar/index.ts'
import { RegistrarError } from '../../server/optional/registrar/registrar.ts'
import { findDomainByHostname, listVerifiedHostnames } from '../../server/store/domains.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { findOwnedDomainByHostname } from '../../server/store/owned-domains.ts'
import { findAccount } from '../../server/store/users.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { type FakePorkbun, startFakePorkbun } from '../support/fake-porkbun.ts'
import { fixedClock, type TestClock } from '../support/test-clock.ts'

/** Orders at the Porkbun fake, on a real database, with a clock that is advanced. */
const day = 24 * 3_600_000
const begin = Date.parse('2026-03-01T12:00:00.000Z')

let clock: TestClock
let folder: string
let store: Store
let porkbun: FakePorkbun
let parts: DomainOrderDeps
let orders: DomainOrders
let round: () => Promise<void>
let refreshed: string[]

beforeEach(async () => {
  clock = fixedClock(begin)
  refreshed = []
  folder = mkdtempSync(join(tmpdir(), 'homeport-orders-'))
  store = await openStore({ data_dir: folder, after_crash: false, clock })
  porkbun = await startFakePorkbun(clock.now)
  await store.db.write((tx) => {
    tx.statement("INSERT INTO accounts (id, plan, has_payment_method, created_at) VALUES ('acc_1', 'pro', 1, ?), ('acc_2', 'pro', 1, ?)").run(
      '2026',
      '2026',
    )
    const project = `INSERT INTO projects (id, account_id, name, slug, repo_is_trusted, repo_branch, node_version, install_command, build_command, root_directory,
      memory_limit_mb, status, always_warm, is_cold, caching_enabled, has_purge_token, created_at, updated_at)
      VALUES (?, 'acc_1', ?, ?, 0, 'main', 'auto', 'auto', 'auto', '.', 512, 'created', 0, 0, 1, 0, '2026', '2026')`
    tx.statement(project).run('prj_1', 'one', 'one')
  })
  parts = {
    db: store.db,
    registrars: createRegistrars(porkbun.options, clock),
    sealer: createSealer(new Uint8Array(32)),
    clock,
    log: silentLog,
    platformIp: () => '203.0.113.9',
    refreshHosts: (id) => void refreshed.push(id),
  }
  startAgain()
})
afterEach(async () => {
  await porkbun.close()
  await store.close()
  rmSync(folder, { recursive: true })
})

/** As after a restart: only the database is kept. */
function startAgain() {
  orders = createDomainOrders(parts)
  const renewals = createDomainRenewals(parts, orders)
  round = () => renewals(new AbortController().signal)
}

const createPurchase = (more: Partial<DomainPurchase> = {}): DomainPurchase => ({
  account_id: 'acc_1',
  project_id: 'prj_1',
  hostname: 'shop.com',
  period_years: 1,
  auto_renew: true,
  price_cents: 973,
  credits: 0,
  registrant: null,
  assertAvailable() {},
  ...more,
})
const createTestOrders = () => {
  if (!parts.registrars.active) throw new Error('nobody sells')
  return parts.registrars.active
}
const buy = (more?: Partial<DomainPurchase>) => orders.purchase(createTestOrders(), createPurchase(more))
const owned = (hostname = 'shop.com') => store.db.read((tx) => findOwnedDomainByHostname(tx, hostname))
const domain = () => store.db.read((tx) => findDomainByHostname(tx, 'shop.com'))
const routed = () => store.db.read((tx) => listVerifiedHostnames(tx, 'prj_1'))
const credits = (id = 'acc_1') => store.db.read((tx) => findAccount(tx, id)?.free_domain_credits)
const giveCredits = (count: number) =>
  store.db.write((tx) => tx.statement("UPDATE accounts SET free_domain_credits = ? WHERE id = 'acc_1'").run(count))

describe('a purchase', () => {
  test('is requested with its price, points to the platform, and is routed', async () => {
    expect(await createTestOrders().quote('shop.com')).toEqual({ available: true, premium: false, price_cents: 973, renewal_price_cents: 1108 })
    await buy()
    expect(await owned()).toMatchObject({
      registrar: 'porkbun',
      reference: '4711',
      expires_at: '2027-03-01T12:00:00.000Z',
      is_registered: 1,
      is_pointed: 1,
    })
    expect(await domain()).toMatchObject({ status: 'verified', expires_at: '2027-03-01T12:00:00.000Z', auto_renew: 1 })
    expect(porkbun.domains.get('shop.com')?.records).toEqual([{ type: 'A', content: '203.0.113.9' }])
    expect([porkbun.charged, await routed(), refreshed]).toEqual([[973], ['shop.com'], ['prj_1']])
  })

  test.each([
    ['taken', () => porkbun.taken.add('shop.com')],
    ['premium', () => porkbun.premium.add('shop.com')],
  ])('a %s name is not sold', async (_, prepare) => {
    prepare()
    expect((await createTestOrders().quote('shop.com')).available).toBe(false)
  })

  test('a refusal leaves no partial state, and returns credits', async () => {
    await giveCredits(2)
    porkbun.prices.registration = '99.00'
    await expect(buy({ credits: 1 })).rejects.toMatchObject({ outcome: 'refused', message: expect.stringContaining('does not match') })
    expect([await owned(), await domain(), await credits(), porkbun.charged]).toEqual([undefined, undefined, 2, []])
  })

  test('bought, but the response is lost: it is found and kept, and charged once', async () => {
    porkbun.next_outcomes.set('domain/create', 'lost')
    await buy()
    expect([(await domain())?.status, porkbun.charged]).toEqual(['verified', [973]])
  })

  test('interrupted before the purchase: undone', async () => {
    porkbun.next_outcomes.set('domain/create', 'cut')
    await expect(buy()).rejects.toBeInstanceOf(RegistrarError)
    expect([await owned(), porkbun.charged]).toEqual([undefined, []])
  })

  test('an unknown outcome is resolved by the next periodic check, also after a restart', async () => {
    porkbun.next_outcomes.set('domain/create', 'lost').set('domain/listAll', 'cut')
    await expect(buy()).rejects.toThrow('checks again within the hour')
    expect([(await owned())?.is_registered, await routed()]).toEqual([0, []])
    startAgain()
    await round()
    expect([(await owned())?.is_registered, await routed(), porkbun.charged]).toEqual([1, ['shop.com'], [973]])
  })

  test('its A record cannot be set: reported, and retried', async () => {
    porkbun.next_outcomes.set('dns/create', 'refused')
    await buy()
    expect(await owned()).toMatchObject({
      is_registered: 1,
      is_pointed: 0,
      last_error: expect.stringContaining('A record could not be set to 203.0.113.9'),
    })
    await round()
    expect(await owned()).toMatchObject({ is_pointed: 1, last_error: null })
  })

  test('of two concurrent purchases exactly one succeeds', async () => {
    const ends = await Promise.allSettled([buy(), buy({ account_id: 'acc_2' })])
    expect(ends.map((one) => one.status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(porkbun.charged).toEqual([973])
  })

  test('invalid keys are refused, without naming a key', async () => {
    const other = createRegistrars({ ...porkbun.options, secret_key: 'sk1_wrong' }, parts.clock).active
    await expect(other?.quote('shop.com')).rejects.toThrow('The registrar Porkbun refused: Invalid API key. (002)')
  })

  test('a transfer code is not available through the API: the error says where', async () => {
    await expect(createTestOrders().getAuthCode('shop.com')).rejects.toThrow('only on its website')
  })
})

describe('renewal', () => {
  beforeEach(() => buy())
  const ends = async () => (await owned())?.expires_at

  test('not before thirty days before expiry; then once', async () => {
    await clock.jump(334 * day)
    await round()
    expect(porkbun.charged).toEqual([973])
    await clock.jump(2 * day)
    await round()
    await round()
    expect([await ends(), porkbun.charged]).toEqual(['2028-03-01T12:00:00.000Z', [973, 1108]])
  })

  test('uses credits first', async () => {
    await giveCredits(1)
    await clock.jump(336 * day)
    await round()
    expect([await ends(), await credits()]).toEqual(['2028-03-01T12:00:00.000Z', 0])
  })

  test('with neither credit nor card: reported, and renewed once there is one', async () => {
    await store.db.write((tx) => tx.statement('UPDATE accounts SET has_payment_method = 0').run())
    await clock.jump(336 * day)
    await round()
    expect(await owned()).toMatchObject({ expires_at: '2027-03-01T12:00:00.000Z', last_error: expect.stringContaining('Add a card') })
    await store.db.write((tx) => tx.statement('UPDATE accounts SET has_payment_method = 1').run())
    await round()
    expect(await owned()).toMatchObject({ expires_at: '2028-03-01T12:00:00.000Z', last_error: null })
  })

  test('renewed, but the response is lost: not charged twice', async () => {
    await clock.jump(336 * day)
    porkbun.next_outcomes.set('domain/renew', 'lost')
    await round()
    expect(await owned()).toMatchObject({ expires_at: '2027-03-01T12:00:00.000Z', last_error: expect.stringContaining('did not respond') })
    startAgain()
    await round()
    expect([await ends(), porkbun.charged]).toEqual(['2028-03-01T12:00:00.000Z', [973, 1108]])
  })

  test('turned off: it expires, is no longer routed, and is available to others a month later', async () => {
    await store.db.write((tx) => tx.statement('UPDATE owned_domains SET auto_renew = 0').run())
    await clock.jump(366 * day)
    await round()
    expect(await domain()).toMatchObject({ status: 'failed', last_check_error: expect.stringContaining('expired on 2027-03-01') })
    expect(await routed()).toEqual([])
    await expect(buy({ account_id: 'acc_2' })).rejects.toMatchObject({ code: 'domain_unavailable' })
    await clock.jump(31 * day)
    await round()
    expect([await owned(), await domain()]).toEqual([undefined, undefined])
  })

  test.each([
    ['acc_1', 366],
    ['acc_2', 366 + 31],
  ])('turned off: %s can buy it again after %d days, also before the next round', async (account_id, days) => {
    await store.db.write((tx) => tx.statement('UPDATE owned_domains SET auto_renew = 0').run())
    await clock.jump(days * day)
    porkbun.domains.delete('shop.com')
    await buy({ account_id })
    expect(await owned()).toMatchObject({ account_id })
  })
})
