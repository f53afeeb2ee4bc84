import { expect, test } from 'vitest'
import { createDeadlineTimer } from '../../server/edge/deadline-timer.ts'
import { createTestClock } from '../support/test-clock.ts'

test('time during which the process was suspended does not count', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  let stalled_ms = 0
  const sweep = createDeadlineTimer({ ...clock, monotonic: () => clock.monotonic() + stalled_ms }, 1)
  const timed = { deadline: 10, expired: 0, expire: () => void timed.expired++ }
  const untimed = { deadline: 0, expire: () => void timed.expired++ }
  sweep.add(timed)
  sweep.add(untimed)
  stalled_ms = 5000
  await clock.advance(9)
  expect([sweep.now, timed.expired]).toEqual([5009, 0])
  await clock.advance(1)
  expect(timed).toMatchObject({ expired: 1, deadline: 0 })
  await clock.advance(1)
  expect([timed.expired, untimed.deadline]).toEqual([1, 0])
})
