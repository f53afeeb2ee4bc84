import { expect, test } from 'vitest'
import { formatSize } from '../../server/maintenance/disk-notes.ts'

test.each([
  [0, '0.0 MB'],
  [1_550_000, '1.6 MB'],
  [999_900_000, '999.9 MB'],
  [1_000_000_000, '1.0 GB'],
  [12_340_000_000, '12.3 GB'],
])('%d bytes are %s', (bytes, text) => expect(formatSize(bytes)).toBe(text))
