import { expect, it } from 'vitest'
import { createRateEstimator } from '../../renderer/api/use-upload.ts'
import { formatTransfer } from '../../renderer/api/transfer-progress.ts'

const of = (sent: number, total: number, rate: number | null, remaining_ms: number | null) =>
  formatTransfer({ name: 'a', sent, total, rate, remaining_ms })

it('shows the speed of the last seconds, not of the first', () => {
  const pace = createRateEstimator()
  expect(pace(0, 100e6, 0)).toEqual({ rate: null, remaining_ms: null })
  expect(pace(1e6, 100e6, 200)).toEqual({ rate: null, remaining_ms: null })
  expect(pace(10e6, 100e6, 1_000)).toEqual({ rate: 10e6, remaining_ms: 9_000 })
  // A connection that has become slow: earlier progress is forgotten after a few seconds.
  for (let at = 2_000; at <= 12_000; at += 1_000) pace(10e6 + (at - 1_000) * 1_000, 100e6, at)
  expect(pace(22e6, 100e6, 13_000)).toEqual({ rate: 1e6, remaining_ms: 78_000 })
  expect(pace(100e6, 100e6, 14_000).remaining_ms).toBeNull()
})

it('shows the remaining time only if it is long enough, and 100 percent only at the end', () => {
  expect(of(0, 10e6, null, null)).toBe('0 B of 10 MB (0 %)')
  expect(of(5e6, 10e6, 4e6, 1_250)).toBe('5.0 MB of 10 MB (50 %)')
  expect(of(25e6, 100e6, 3.1e6, 24_000)).toBe('25 MB of 100 MB (25 %), 3.1 MB/s, 24 s left')
  expect(of(999_999, 1_000_000, null, null)).toContain('(99 %)')
})
