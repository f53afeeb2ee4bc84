import { expect, test } from 'vitest'
import { createPortAllocator } from '../../server/runtime/ports.ts'

test('ports for apps are distinct, and outside of the range for outgoing connections', async () => {
  const ports = createPortAllocator()
  const allocated = await Promise.all(Array.from({ length: 200 }, () => ports.allocate()))
  expect(new Set(allocated).size).toBe(200)
  // Linux starts at 32768, macOS and Windows at 49152.
  expect(allocated.filter((port) => port < 1024 || port >= 32_768)).toEqual([])
})
