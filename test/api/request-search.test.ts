import { expect, test } from 'vitest'
import { findNewestRequests, searchSteps } from '../../server/features/request-search.ts'
import type { StoredRequest } from '../../server/store/request-store.ts'
import { createTestClock } from '../support/test-clock.ts'

const { min_rows, max_rows, slow_ms } = searchSteps

/** Searches 100,000 requests, of which the oldest alone matches. Each step takes `step_ms`. Returns the rows of each step, and what else ran meanwhile. */
async function search(step_ms: number) {
  const clock = createTestClock({ frozen_at: 0 })
  const sizes: number[] = []
  let turns = 0
  const store = {
    list(_project: string, _filters: object, { from, to }: { from: number; to: number }) {
      sizes.push(to - from)
      void clock.advance(step_ms)
      setImmediate(() => turns++)
      return from === 1 ? [{ number: 1 } as StoredRequest] : []
    },
  }
  const found = await findNewestRequests({ store, clock }, 'prj_a', { path: '*.png' }, { from: 1, to: 100_001, limit: 50 })
  return { found: found.map(({ number }) => number), sizes, turns }
}

test('a search applies a filter to few requests at a time while that is slow, and lets others run in between', async () => {
  const { found, sizes, turns } = await search(slow_ms)
  expect(found).toEqual([1])
  expect(new Set(sizes)).toEqual(new Set([min_rows]))
  expect(turns).toBe(sizes.length)
})

test('a quick search takes ever more requests at a time', async () => {
  const { found, sizes } = await search(0)
  expect(found).toEqual([1])
  expect(sizes.slice(0, 3)).toEqual([min_rows, 2 * min_rows, 4 * min_rows])
  expect(Math.max(...sizes)).toBe(max_rows)
  expect(sizes.reduce((sum, rows) => sum + rows)).toBe(100_000)
})
