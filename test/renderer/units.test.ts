import { expect, test } from 'vitest'
import { formatMegabytes, formatSecondsWithUnits, parseMegabytes, parseSeconds } from '../../renderer/lib/units.ts'

test('durations with units', () => {
  const texts = ['15 min', '15min', '1 h 30 min', '90', '2 days', '0', '1.5 h', 'soon', '', '5 MB', '-1']
  expect(texts.map(parseSeconds)).toEqual([900, 900, 5400, 90, 172_800, 0, 5400, null, null, null, null])
  for (const seconds of [0, 1, 59, 60, 900, 3661, 86_400, 90_061]) expect(parseSeconds(formatSecondsWithUnits(seconds))).toBe(seconds)
  expect(formatSecondsWithUnits(5400)).toBe('1 h 30 min')
})

test('sizes with units', () => {
  expect(['512 MB', '2 GB', '2gb', '64', '1.5 GB', 'much', '5 min'].map(parseMegabytes)).toEqual([512, 2048, 2048, 64, 1536, null, null])
  for (const size of [0, 64, 512, 1000, 1024, 1536, 2048]) expect(parseMegabytes(formatMegabytes(size))).toBe(size)
  expect(formatMegabytes(2048)).toBe('2 GB')
})
