import { expect, test } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import { findSurplusPreviews } from '../../server/deployments/pull-requests.ts'
import type { PreviewRow } from '../../server/store/tables.ts'

const previewsOf = (branches: string[]) =>
  branches.map((branch, index) => ({ branch, updated_at: new Date(index * 1_000).toISOString() }) as PreviewRow)
const pulls = (count: number) => Array.from({ length: count }, (_, index) => `pull/${index + 1}`)

test('another pull request closes the least recently changed preview once there are too many; branches do not count', () => {
  const full = previewsOf(['feature', ...pulls(limits.pull_requests.previews)])
  expect(findSurplusPreviews(full, 'pull/99')).toEqual(['pull/1'])
  expect(findSurplusPreviews([...full.slice(2), full[1]!], 'pull/99')).toEqual(['pull/1'])
  expect(findSurplusPreviews(full, 'pull/3')).toEqual([])
  expect(findSurplusPreviews(full.slice(0, -1), 'pull/99')).toEqual([])
  expect(findSurplusPreviews([...full, ...previewsOf(['pull/50', 'pull/51'])], 'pull/99')).toHaveLength(3)
})
