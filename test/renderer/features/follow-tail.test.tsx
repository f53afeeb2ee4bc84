import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { useFollowTail } from '../../../renderer/features/logs/use-follow-tail.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** A log of 1,000 pixels of which 100 are visible. The clock of the page starts long after any gesture. */
function followLog(follow: boolean) {
  vi.advanceTimersByTime(60_000)
  const scroller = Object.assign(document.createElement('div'), { scrollTop: 500 })
  Object.defineProperties(scroller, { scrollHeight: { value: 1_000 }, clientHeight: { value: 100 } })
  const [onFollowChange, onMoved] = [vi.fn(), vi.fn()]
  const { current } = renderHook(() => useFollowTail({ current: scroller }, follow, onFollowChange, onMoved)).result
  const scrollTo = (top: number) => {
    scroller.scrollTop = top
    current.onScroll()
  }
  scrollTo(500)
  onMoved.mockClear()
  return { ...current, scrollTo, onMoved, changes: onFollowChange.mock.calls }
}

test.each([
  ['up, while it follows, ends it', true, 400, [[false]]],
  ['up within the last lines does not', true, 890, []],
  ['down does not', true, 600, []],
  ['down to the end resumes it', false, 880, [[true]]],
  ['down, but not to the end, does not', false, 876, []],
  ['up does not resume it', false, 400, []],
])('a scroll of the user %s', (_, follow, to, changes) => {
  const log = followLog(follow)
  if (to === 890) log.scrollTo(900)
  log.onWheel()
  log.scrollTo(to)
  expect(log.changes).toEqual(changes)
  expect(log.onMoved.mock.lastCall).toEqual([to])
})

test.each(['onWheel', 'onTouchMove', 'onKeyDown'] as const)('a scroll within 350 ms after %s is one of the user', (gesture) => {
  const log = followLog(true)
  log.scrollTo(400)
  log[gesture]()
  vi.advanceTimersByTime(351)
  log.scrollTo(300)
  expect(log.changes).toEqual([])
  log[gesture]()
  vi.advanceTimersByTime(350)
  log.scrollTo(200)
  expect(log.changes).toEqual([[false]])
})

test.each(['pointerup', 'pointercancel'])('so is each while the scrollbar is held, until %s', (end) => {
  const log = followLog(true)
  log.onPointerDown()
  vi.advanceTimersByTime(5_000)
  log.scrollTo(400)
  expect(log.changes).toEqual([[false]])
  act(() => void window.dispatchEvent(new Event(end)))
  vi.advanceTimersByTime(351)
  log.scrollTo(300)
  expect(log.changes).toHaveLength(1)
})
