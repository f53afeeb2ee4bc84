import { expect, onTestFinished, test } from 'vitest'
import { createSweep } from '../../server/edge/sweep.ts'
import { until } from '../support/edge.ts'

test('time in which the process was held up counts against nobody', async () => {
  let now = 1000
  const sweep = createSweep({ now: () => now, monotonic: () => now }, 1)
  onTestFinished(() => sweep.stop())
  const pass = async (ms: number) => {
    now += ms
    await until(() => sweep.now === now)
  }
  const timed = { deadline: now + 10, expired: 0, expire: () => void timed.expired++ }
  const untimed = { deadline: 0, expire: () => void timed.expired++ }
  sweep.add(timed)
  sweep.add(untimed)
  await pass(5000)
  expect(timed.expired).toBe(0)
  for (let ms = 0; ms < 8; ms++) await pass(1)
  expect(timed.expired).toBe(0)
  await pass(1)
  expect(timed).toMatchObject({ expired: 1, deadline: 0 })
  await pass(1)
  expect([timed.expired, untimed.deadline]).toEqual([1, 0])
})
