import { expect, test } from 'vitest'
import { createCacheLease } from '../../server/edge/nodes/cache-lease.ts'
import { lease_ms } from '../../server/edge/nodes/protocol.ts'

function create() {
  const clocks = { monotonic_ms: 1_000, wall_ms: 1_000_000 }
  const pass = (monotonic_ms: number, wall_ms = monotonic_ms) => {
    clocks.monotonic_ms += monotonic_ms
    clocks.wall_ms += wall_ms
  }
  return { pass, lease: createCacheLease({ monotonic: () => clocks.monotonic_ms, now: () => clocks.wall_ms }) }
}

test('the lease counts from when its renewal was asked for', () => {
  const { pass, lease } = create()
  expect(lease.isHeld()).toBe(false)
  const id = lease.ask()
  pass(2_000)
  expect(lease.isHeld()).toBe(false)
  lease.renew(id)
  pass(lease_ms - 2_001)
  expect(lease.isHeld()).toBe(true)
  pass(1)
  expect(lease.isHeld()).toBe(false)
})

test('an answer to an earlier request, or to none, changes nothing', () => {
  const { pass, lease } = create()
  const first = lease.ask()
  pass(3_000)
  lease.renew(lease.ask())
  lease.renew(first)
  lease.renew(99)
  pass(lease_ms - 1)
  expect(lease.isHeld()).toBe(true)
  lease.end()
  expect(lease.isHeld()).toBe(false)
})

test('it ends while the machine is suspended, and although its clock is set back', () => {
  const { pass, lease } = create()
  lease.renew(lease.ask())
  pass(10, lease_ms)
  expect(lease.isHeld()).toBe(false)
  lease.renew(lease.ask())
  pass(lease_ms - 1, -60_000)
  expect(lease.isHeld()).toBe(true)
  pass(1, 1)
  expect(lease.isHeld()).toBe(false)
})
