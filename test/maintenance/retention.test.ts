/** Which builds and sources are kept: only the rule, over rows. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { selectRetained } from '../../server/deployments/retention.ts'
import { listRetentionCandidates, type RetentionRow } from '../../server/store/retention-candidates.ts'
import { openStore } from '../../server/store/store.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { forEachSeed } from '../support/seeds.ts'

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
const builds = (rows: RetentionRow[], keep: number, branches: string[] = []) => [...selectRetained(rows, keep, new Set(branches)).builds].toSorted()
const sources = (rows: RetentionRow[], keep: number) => [...selectRetained(rows, keep, new Set()).sources].toSorted()

describe('builds', () => {
  test('keeps the newest ready ones, as many as configured', () => {
    expect(builds([row('e', { is_current: 1 }), row('d'), row('c'), row('b'), row('a')], 3)).toEqual(['c', 'd', 'e'])
  })
  test('keeps the current one and the one before it, however few are configured', () => {
    expect(builds([row('c', { is_current: 1 }), row('b'), row('a')], 1)).toEqual(['b', 'c'])
  })
  test('keeps the current one, however old it is', () => {
    expect(builds([row('d'), row('c'), row('b'), row('a', { is_current: 1 })], 2)).toEqual(['a', 'c', 'd'])
  })
  test('failed or canceled ones have none, and do not count', () => {
    const failures = Array.from({ length: 20 }, (_, i) => row(`f${i}`, { status: i % 2 === 0 ? 'failed' : 'canceled' }))
    expect(builds([...failures, row('b', { is_current: 1 }), row('a')], 2)).toEqual(['a', 'b'])
  })
  test('previews do not displace production; each open one keeps its current build, a closed one none', () => {
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
  test('keeps those of the last ended, the last ready, the current and the running deployments', () => {
    const failed = ['k', 'j', 'i'].map((id) => upload(id, { status: 'failed', artifact: null, has_artifact: 0 }))
    const open = upload('l', { status: 'queued', is_open: 1, artifact: null, has_artifact: 0 })
    const rows = [open, ...failed, upload('e'), upload('d'), upload('c'), upload('b'), upload('a', { is_current: 1 })]
    expect(sources(rows, 2)).toEqual(['a', 'd', 'e', 'j', 'k', 'l'])
  })
  test('a retry counts as the deployment whose source it used', () => {
    expect(sources([upload('e', { is_current: 1, source_id: 'a' }), upload('d'), upload('c'), upload('b'), upload('a')], 2)).toEqual(['a', 'd'])
  })
  test('git deployments have none', () => {
    expect(sources([row('a', { is_current: 1 })], 5)).toEqual([])
  })
})

test('the rows that are read lead to the same result as all deployments of a project', () =>
  forEachSeed(new URL('corpus/retention.json', import.meta.url), expectReadsEnough, { explored: 5 }))

async function expectReadsEnough(seed: number): Promise<void> {
  const seededRandom = createSeededRandom(seed)
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-keep-'))
  const store = await openStore({ data_dir, after_crash: false })
  try {
    store.db.raw.pragma('foreign_keys = OFF')
    const { chance, pick } = seededRandom
    for (let round = 0; round < 20; round++) {
      const project = `prj_${round}`
      const all = Array.from({ length: 150 }, (_, n): RetentionRow => {
        const status = pick(['ready', 'ready', 'failed', 'canceled', 'queued'] as const)
        const target = pick(['production', 'preview'] as const)
        const has_artifact = status === 'ready' && chance(0.1) ? 1 : 0
        const [id, parent] = [`dpl_${round}_${n}`, `dpl_${round}_${Math.floor(n / 2)}`]
        return row(id, {
          status,
          target,
          branch: target === 'preview' ? pick(['open', 'gone']) : 'main',
          artifact: has_artifact === 1 ? '{}' : null,
          has_artifact,
          is_open: status === 'queued' ? 1 : 0,
          source: pick(['git', 'upload', 'folder'] as const),
          source_id: chance(0.3) ? parent : id,
        })
      })
      for (const target of ['production', 'preview'] as const) {
        const ready = all.filter((one) => one.target === target && one.status === 'ready')
        if (ready.length > 0) pick(ready).is_current = 1
      }
      store.db.writeSync((tx) => {
        tx.statement("INSERT INTO previews (project_id, branch, host, created_at, updated_at) VALUES (?, 'open', ?, '', '')").run(
          project,
          `${project}-open`,
        )
        for (const one of all)
          tx.statement(`INSERT INTO deployments (id, project_id, status, target, trigger, source, branch, is_current, runtime, created_at, source_request, artifact)
             VALUES (?, ?, ?, ?, 'manual', ?, ?, ?, ?, '', ?, ?)`).run(
            one.id,
            project,
            one.status,
            one.target,
            one.source,
            one.branch,
            one.is_current,
            one.runtime,
            JSON.stringify({ of: one.source_id === one.id ? undefined : one.source_id }),
            one.artifact,
          )
      })
      const keep = seededRandom.between(1, 4)
      const { rows, branches } = store.db.readSync((tx) => listRetentionCandidates(tx, project, Math.max(2, keep)))
      expect(branches).toEqual(new Set(['open']))
      expect(rows.length).toBeLessThan(all.length)
      expect(selectRetained(rows, keep, branches)).toEqual(selectRetained(all.toReversed(), keep, branches))
      const held = (some: RetentionRow[]) => some.filter((one) => one.has_artifact || one.is_open || one.is_current).map((one) => one.id)
      expect(held(rows)).toEqual(held(all.toReversed()))
    }
  } finally {
    await store.close()
    rmSync(data_dir, { recursive: true, force: true })
  }
}
