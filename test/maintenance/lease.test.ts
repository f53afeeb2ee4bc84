import { describe, expect, test } from 'vitest'
import { silentLog } from '../../server/lib/log.ts'
import {
  awaitLease,
  createLease,
  type Lease,
  type LeaseRecord,
  type LeaseStore,
  resignAsStandby,
  LeaseTakenError,
  takeover_ms,
  trust_ms,
} from '../../server/maintenance/standby/lease.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { createTestClock, type TestClock } from '../support/test-clock.ts'

/** The record of a cluster. Each machine has its own connection, which can be cut. */
function createCluster() {
  let current: { record: LeaseRecord; version: number } | undefined
  const connect = (): LeaseStore & { isCut: boolean } => {
    const connection = {
      isCut: false,
      assertConnected() {
        if (connection.isCut) throw new Error('no quorum')
      },
      async read() {
        connection.assertConnected()
        return current && structuredClone(current)
      },
      async create(record: LeaseRecord) {
        connection.assertConnected()
        if (current) return false
        current = { record, version: 1 }
        return true
      },
      async replace(version: number, record: LeaseRecord) {
        connection.assertConnected()
        if (current?.version !== version) return false
        current = { record, version: version + 1 }
        return true
      },
    }
    return connection
  }
  return { connect, record: () => current?.record }
}

const frozen_at = '2026-01-01'

function createMachine(cluster: ReturnType<typeof createCluster>, name: string, clock: TestClock = createTestClock({ frozen_at })) {
  const store = cluster.connect()
  const memory = {
    had_standby: false,
    remember: async (value: boolean) => void (memory.had_standby = value),
  }
  const options = { store, holder: name, name, clock, log: silentLog }
  return {
    clock,
    store,
    memory,
    lead: () => createLease({ ...options, memory }),
    follow(isReady = () => true, isAsked = () => false) {
      const stopping = new AbortController()
      const state = { taken: undefined as LeaseRecord | undefined, stop: () => stopping.abort() }
      awaitLease({ ...options, signal: stopping.signal, isReady, isAsked }).then(
        (record) => (state.taken = record),
        () => {},
      )
      return state
    },
  }
}

/** Two machines, of which the first leads. */
async function createPair() {
  const cluster = createCluster()
  const one = createMachine(cluster, 'one')
  const lease = one.lead()
  await lease.start()
  return { cluster, one, two: createMachine(cluster, 'two'), lease }
}

const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

describe('the lease of a cluster', () => {
  test('a leader without a standby leads without a quorum too, also after a restart', async () => {
    const cluster = createCluster()
    const machine = createMachine(cluster, 'one')
    const lease = machine.lead()
    await lease.start()
    expect(lease.epoch()).toBe(1)
    machine.store.isCut = true
    await machine.clock.advance(10 * trust_ms)
    expect(lease.isHeld()).toBe(true)
    await lease.close()
    const next = machine.lead()
    await next.start()
    expect(next.isHeld()).toBe(true)
    machine.store.isCut = false
    await machine.clock.advance(3_000)
    expect([next.isHeld(), next.epoch()]).toEqual([true, 2])
    await next.close()
  })

  test('a leader with a standby stops when it cannot renew, and goes on when it can', async () => {
    const { cluster, one, two, lease } = await createPair()
    two.follow()
    await settle()
    await one.clock.advance(3_000)
    expect(cluster.record()).toMatchObject({ standby: 'two', is_standby_known: true })
    one.store.isCut = true
    await one.clock.advance(trust_ms - 1)
    expect(lease.isHeld()).toBe(true)
    await one.clock.advance(1)
    expect(lease.isHeld()).toBe(false)
    one.store.isCut = false
    await one.clock.advance(3_000)
    expect(lease.isHeld()).toBe(true)
    await lease.close()
  })

  test('a leader with a standby does not lead after its machine was suspended, until it has renewed', async () => {
    const cluster = createCluster()
    const test_clock = createTestClock({ frozen_at })
    let suspended_ms = 0
    // The monotonic clock stands still meanwhile.
    const one = createMachine(cluster, 'one', { ...test_clock, now: () => test_clock.now() + suspended_ms })
    const lease = one.lead()
    await lease.start()
    createMachine(cluster, 'two').follow()
    await settle()
    await one.clock.advance(3_000)
    expect([cluster.record()?.is_standby_known, lease.isHeld()]).toEqual([true, true])
    suspended_ms = trust_ms
    expect(lease.isHeld()).toBe(false)
    await one.clock.advance(3_000)
    expect(lease.isHeld()).toBe(true)
    await lease.close()
  })

  test('a leader with a standby that starts without a quorum does not lead until it knows that it may', async () => {
    const cluster = createCluster()
    const one = createMachine(cluster, 'one')
    const lease = one.lead()
    await lease.start()
    createMachine(cluster, 'two').follow()
    await settle()
    await one.clock.advance(3_000)
    await lease.close()
    one.store.isCut = true
    const next = one.lead()
    await next.start()
    expect(next.isHeld()).toBe(false)
    one.store.isCut = false
    await one.clock.advance(3_000)
    expect(next.isHeld()).toBe(true)
    await next.close()
  })

  test('a standby takes the lease of a leader that is gone, which does not come back as the leader', async () => {
    const { cluster, one, two, lease } = await createPair()
    const standby = two.follow()
    await settle()
    await one.clock.advance(3_000)
    await two.clock.advance(takeover_ms)
    expect(standby.taken).toBeUndefined()
    await two.clock.advance(2_000)
    expect(standby.taken).toMatchObject({ holder: 'two', epoch: 2 })
    // One that crashed before it led goes on.
    const again = createMachine(cluster, 'two').follow()
    await settle()
    expect(again.taken).toMatchObject({ holder: 'two', epoch: 2 })
    // The first was suspended: it notices before its timers run.
    await one.clock.jump(takeover_ms + 5_000)
    expect(lease.isHeld()).toBe(false)
    expect(await lease.lost).toContain('two leads this cluster now')
    await expect(createMachine(cluster, 'one').lead().start()).rejects.toThrow(LeaseTakenError)
  })

  test('a standby that is not ready, or that the leader has not seen, takes nothing', async () => {
    const cluster = createCluster()
    const one = createMachine(cluster, 'one')
    const lease = one.lead()
    await lease.start()
    const unready = createMachine(cluster, 'two')
    const first = unready.follow(() => false)
    await unready.clock.advance(5 * takeover_ms)
    const unseen = createMachine(cluster, 'three')
    const second = unseen.follow()
    await unseen.clock.advance(5 * takeover_ms)
    expect([first.taken, second.taken]).toEqual([undefined, undefined])
    expect(lease.isHeld()).toBe(true)
    await lease.close()
  })

  test('a standby that stops resigns, and then the leader leads without a quorum again', async () => {
    const { one, two, lease } = await createPair()
    const standby = two.follow()
    await settle()
    await one.clock.advance(3_000)
    standby.stop()
    await resignAsStandby(two.store, 'two')
    await one.clock.advance(3_000)
    one.store.isCut = true
    await one.clock.advance(2 * trust_ms)
    expect(lease.isHeld()).toBe(true)
    await lease.close()
  })

  test('a leader that is asked gives up the lease to its standby at once', async () => {
    const { one, two, lease } = await createPair()
    let isAsked = false
    const standby = two.follow(
      () => true,
      () => isAsked,
    )
    await settle()
    await one.clock.advance(3_000)
    isAsked = true
    await two.clock.advance(1_000)
    await one.clock.advance(3_000)
    expect(await lease.lost).toContain('asked to lead')
    expect(lease.isHeld()).toBe(false)
    await expect(one.lead().start()).rejects.toThrow(LeaseTakenError)
    await two.clock.advance(1_000)
    expect(standby.taken).toMatchObject({ holder: 'two', epoch: 2 })
  })

  test('of two standbys that are ready, the first takes the lease of a leader that is gone', async () => {
    const { cluster, one, two, lease } = await createPair()
    const three = createMachine(cluster, 'three')
    const standbys = [two.follow(), three.follow()]
    for (let passed = 0; passed < 40_000; passed += 500) {
      for (const machine of passed < 10_000 ? [one, two, three] : [two, three]) await machine.clock.advance(500)
      await settle()
    }
    expect(standbys.map(({ taken }) => taken?.holder)).toEqual(['two', undefined])
    standbys[1]!.stop()
    await lease.close()
  })

  test('a standby that follows no more makes room for another', async () => {
    const { cluster, one, two, lease } = await createPair()
    const following = new Set(['two', 'three'])
    lease.watchStandbys((standby) => following.has(standby))
    const first = two.follow()
    await settle()
    await one.clock.advance(3_000)
    const second = createMachine(cluster, 'three')
    const state = second.follow()
    first.stop()
    following.delete('two')
    await one.clock.advance(60_000)
    await second.clock.advance(1_000)
    expect(cluster.record()).toMatchObject({ standby: 'two' })
    await one.clock.advance(6_000)
    await second.clock.advance(1_000)
    await one.clock.advance(3_000)
    expect(cluster.record()).toMatchObject({ standby: 'three', is_standby_known: true })
    state.stop()
    await lease.close()
  })

  test('a standby is remembered until it is out of the record', async () => {
    const { cluster, one, two, lease } = await createPair()
    two.follow().stop()
    await settle()
    await one.clock.advance(3_000)
    expect(cluster.record()).toMatchObject({ standby: 'two', is_standby_known: true })
    lease.watchStandbys(() => false)
    const { replace } = one.store
    one.store.replace = () => Promise.reject(new Error('no quorum'))
    await one.clock.advance(70_000)
    expect([one.memory.had_standby, cluster.record()?.standby]).toEqual([true, 'two'])
    one.store.replace = replace
    await one.clock.advance(3_000)
    expect([one.memory.had_standby, cluster.record()?.standby]).toEqual([false, null])
    await lease.close()
  })

  test.each([
    ['that the leader has never seen', null],
    ['in place of another that is gone', 'three'],
  ])('a person makes a standby lead %s', async (_what, other) => {
    const { cluster, one, two, lease } = await createPair()
    if (other !== null) {
      const gone = createMachine(cluster, other).follow()
      await settle()
      await one.clock.advance(3_000)
      gone.stop()
    }
    await lease.close()
    let isAsked = false
    const standby = two.follow(
      () => true,
      () => isAsked,
    )
    await settle()
    await two.clock.advance(5 * takeover_ms)
    expect(standby.taken).toBeUndefined()
    isAsked = true
    await two.clock.advance(takeover_ms + 2_000)
    expect(standby.taken).toMatchObject({ holder: 'two', epoch: 2, standby: null, is_handover: false })
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('never two leaders, whatever is cut or suspended (%i)', async (seed) => {
    const random = createSeededRandom(seed)
    const cluster = createCluster()
    const machines = ['one', 'two'].map((name) => ({
      ...createMachine(cluster, name),
      lease: undefined as Lease | undefined,
      standby: undefined as { taken: LeaseRecord | undefined; stop(): void } | undefined,
    }))
    const [first, second] = machines as [(typeof machines)[number], (typeof machines)[number]]
    first.lease = first.lead()
    await first.lease.start()
    second.standby = second.follow()
    let changes = 0
    const check = () => expect(machines.filter(({ lease }) => lease?.isHeld()).length).toBeLessThanOrEqual(1)
    for (let round = 0; round < 400; round++) {
      for (const machine of machines) machine.store.isCut = random.chance(0.15) ? !machine.store.isCut : machine.store.isCut
      // One may be suspended while time passes for the other.
      const ms = random.between(200, 8_000)
      const suspended = random.chance(0.2) ? random.pick(machines) : undefined
      for (let passed = 0; passed < ms; passed += 500) {
        for (const machine of machines) if (machine !== suspended) await machine.clock.advance(500)
        await settle()
        if (!suspended) check()
      }
      if (suspended) {
        // A request that waited for it asks before any of its timers runs.
        const jumping = suspended.clock.jump(Math.ceil(ms / 500) * 500)
        check()
        await jumping
      }
      await settle()
      for (const machine of machines) {
        if (machine.standby?.taken) {
          machine.standby = undefined
          machine.lease = machine.lead()
          changes++
          await machine.lease.start().catch(() => (machine.lease = undefined))
        }
        check()
        // It starts again as a standby.
        if (machine.lease && cluster.record()?.holder !== (machine === first ? 'one' : 'two') && !machine.lease.isHeld() && !machine.store.isCut) {
          await machine.lease.close()
          machine.lease = undefined
          machine.standby = machine.follow()
        }
      }
    }
    expect(changes).toBeGreaterThan(0)
    for (const { lease, standby } of machines) {
      standby?.stop()
      await lease?.close()
    }
  })
})
