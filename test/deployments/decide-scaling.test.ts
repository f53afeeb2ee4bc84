import { expect, test } from 'vitest'
import fc from 'fast-check'
import type { Autoscaling } from '../../server/contract/autoscaling.ts'
import { limits } from '../../server/contract/limits.ts'
import { decideScaling, fitToMemory, initialState } from '../../server/deployments/decide-scaling.ts'

const range: Autoscaling = { min: 1, max: 5, target_concurrency: 20 }

/** Applies a load per second, and returns the number of replicas after each second with the reason of each change. */
function run(loads: readonly number[], { replicas = 1, settings = range }: { replicas?: number; settings?: Autoscaling } = {}) {
  let state = initialState
  let current = replicas
  return loads.map((in_flight, second) => {
    const result = decideScaling(state, { time_ms: second * 1_000, in_flight, replicas: current }, settings)
    state = result.state
    current = result.change?.to ?? current
    return result.change ? `${current} ${result.change.reason}` : current
  })
}
const repeat = (load: number, seconds: number): number[] => Array.from({ length: seconds }, () => load)

test('more replicas run at once', () => {
  expect(run([61])).toEqual(['4 load_above_target'])
})

test('the load is the average of six seconds', () => {
  // The averages: 0 (ten times), then 10, 20, 30, 40, 50 and 60.
  expect(run([...repeat(0, 10), ...repeat(60, 6)]).slice(10)).toEqual([1, 1, '2 load_above_target', 2, '3 load_above_target', 3])
})

test('a load within a tenth of the target changes nothing', () => {
  expect(run(repeat(22, 100))).toEqual(repeat(1, 100))
  expect(run([23])).toEqual(['2 load_above_target'])
  expect(run(repeat(36, 100), { replicas: 2 })).toEqual(repeat(2, 100))
})

test('fewer replicas run once the load has asked for no more during a minute', () => {
  const counts = run([...repeat(61, 10), ...repeat(0, 80)])
  // The average of second 10 is the first that asks for fewer.
  expect(counts.slice(1, 69)).toEqual(repeat(4, 68))
  expect(counts.findIndex((count) => String(count).includes('below'))).toBe(69)
  expect(counts.at(-1)).toBe(1)
  // A load that comes back within the minute keeps the replicas.
  const kept = run([...repeat(61, 10), ...repeat(0, 50), ...repeat(61, 10), ...repeat(0, 50)])
  expect(kept.slice(1).every((count) => count === 4)).toBe(true)
})

test('a decrease goes to the greatest number that the minute asked for', () => {
  const counts = run([...repeat(80, 10), ...repeat(0, 20), ...repeat(35, 10), ...repeat(0, 200)])
  // While the second load is within the minute, its two replicas stay.
  expect(counts.slice(0, 68).at(-1)).toBe(4)
  expect([counts[80], counts[95], counts.at(-1)]).toEqual([2, 2, 1])
})

test('a version that has just started keeps its replicas for a minute', () => {
  expect(run(repeat(0, 59), { replicas: 4 })).toEqual(repeat(4, 59))
  expect(run(repeat(0, 61), { replicas: 4 }).at(-1)).toBe('1 load_below_target')
})

test('the range applies at once', () => {
  expect(run([0], { settings: { ...range, min: 3 } })).toEqual(['3 minimum'])
  expect(run([100], { replicas: 5, settings: { ...range, max: 2 } })).toEqual(['2 maximum'])
  expect(run([0], { replicas: 5, settings: { ...range, max: 2 } })).toEqual(['2 maximum'])
  expect(run([1_000], { settings: { ...range, max: 3 } })).toEqual(['3 load_above_target'])
})

test('whatever the load, the number stays in the range, and the same samples give the same decisions', () => {
  const load = fc.array(fc.nat(2_000), { minLength: 1, maxLength: 200 })
  const bounds = fc
    .tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1_000 }))
    .map(([one, two, target_concurrency]) => ({ min: Math.min(one, two), max: Math.max(one, two), target_concurrency }))
  fc.assert(
    fc.property(load, bounds, fc.integer({ min: 1, max: 20 }), (loads, settings, replicas) => {
      const counts = run(loads, { settings, replicas })
      for (const count of counts) {
        const number = Number.parseInt(String(count), 10)
        expect(number).toBeGreaterThanOrEqual(settings.min)
        expect(number).toBeLessThanOrEqual(settings.max)
      }
      expect(run(loads, { settings, replicas })).toEqual(counts)
    }),
  )
})

test('the state is bounded by the windows', () => {
  let state = initialState
  for (let second = 0; second < 1_000; second++) state = decideScaling(state, { time_ms: second * 1_000, in_flight: 5, replicas: 1 }, range).state
  expect(state.samples).toHaveLength(limits.autoscaling.averaging_window_ms / 1_000)
  expect(state.recommendations).toHaveLength(limits.autoscaling.stabilization_window_ms / 1_000)
})

test('no more replicas than memory holds, and never fewer for lack of it', () => {
  const change = { to: 5, reason: 'load_above_target', concurrency: 90, recommended: 7 } as const
  const fit = (available_mb: number, from = 2) => fitToMemory(change, from, { available_mb, replica_mb: 100 })
  expect(fit(300)).toBe(change)
  expect(fit(Infinity)).toBe(change)
  expect(fit(299)).toEqual({ ...change, to: 4, reason: 'memory' })
  expect(fit(99)).toEqual({ ...change, to: 2, reason: 'memory' })
  expect(fit(-50)).toEqual({ ...change, to: 2, reason: 'memory' })
})
