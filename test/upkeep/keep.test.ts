/** Which builds and sources are kept: the rule alone, over rows. */
import { describe, expect, test } from 'vitest'
import { keptOf } from '../../server/deploy/keep.ts'
import type { RetentionRow } from '../../server/store/deployments.ts'

const row = (id: string, more: Partial<RetentionRow> = {}): RetentionRow => ({
  id,
  status: 'ready',
  target: 'production',
  branch: 'main',
  is_current: 0,
  artifact: '{}',
  has_artifact: 1,
  source: 'git',
  source_id: id,
  runtime: 'docker',
  is_open: 0,
  ...more,
})
const builds = (rows: RetentionRow[], keep: number, branches: string[] = []) => [...keptOf(rows, keep, new Set(branches)).builds].toSorted()
const sources = (rows: RetentionRow[], keep: number) => [...keptOf(rows, keep, new Set()).sources].toSorted()

describe('builds', () => {
  test('the newest that were ready, as many as are to be kept', () => {
    expect(builds([row('e', { is_current: 1 }), row('d'), row('c'), row('b'), row('a')], 3)).toEqual(['c', 'd', 'e'])
  })
  test('the current one and the one before it, however few are to be kept', () => {
    expect(builds([row('c', { is_current: 1 }), row('b'), row('a')], 1)).toEqual(['b', 'c'])
  })
  test('the current one, however old it is', () => {
    expect(builds([row('d'), row('c'), row('b'), row('a', { is_current: 1 })], 2)).toEqual(['a', 'c', 'd'])
  })
  test('those that failed or were canceled keep none, and take nobody’s place', () => {
    const failures = Array.from({ length: 20 }, (_, i) => row(`f${i}`, { status: i % 2 === 0 ? 'failed' : 'canceled' }))
    expect(builds([...failures, row('b', { is_current: 1 }), row('a')], 2)).toEqual(['a', 'b'])
  })
  test('previews do not push production’s out; each open one keeps what it serves; a closed one keeps nothing', () => {
    const preview = (id: string, branch: string, is_current: 0 | 1 = 0) => row(id, { target: 'preview', branch, is_current })
    const rows = [
      preview('z', 'one', 1),
      preview('y', 'one'),
      preview('x', 'gone'),
      ...Array.from({ length: 30 }, (_, i) => preview(`o${i}`, 'one')),
      preview('w', 'two', 1),
      row('c', { is_current: 1 }),
      row('b'),
      row('a'),
    ]
    expect(builds(rows, 2, ['one', 'two'])).toEqual(['b', 'c', 'w', 'y', 'z'])
  })
})

describe('sources', () => {
  const upload = (id: string, more: Partial<RetentionRow> = {}) => row(id, { source: 'upload', ...more })
  test('those of the last that ended, of the last that were ready, of what serves, and of what is under way', () => {
    const failed = ['k', 'j', 'i'].map((id) => upload(id, { status: 'failed', artifact: null, has_artifact: 0 }))
    const open = upload('l', { status: 'queued', is_open: 1, artifact: null, has_artifact: 0 })
    const rows = [open, ...failed, upload('e'), upload('d'), upload('c'), upload('b'), upload('a', { is_current: 1 })]
    expect(sources(rows, 2)).toEqual(['a', 'd', 'e', 'j', 'k', 'l'])
  })
  test('a retry stands for the one whose source it used', () => {
    expect(sources([upload('e', { is_current: 1, source_id: 'a' }), upload('d'), upload('c'), upload('b'), upload('a')], 2)).toEqual(['a', 'd'])
  })
  test('git keeps none', () => {
    expect(sources([row('a', { is_current: 1 })], 5)).toEqual([])
  })
})
