import { describe, expect, it } from 'vitest'
import { type DiskUsage, cleanableKind, diskKind } from '../../server/contract/maintenance.ts'
import { cleanUpEffects, diskKinds, largestParts, freeSpaceLevel, safeKinds, reclaimableSpace } from '../../renderer/features/instance/disk-kinds.ts'

const row = (
  kind: DiskUsage['kind'],
  bytes: number,
  reclaimable_bytes: number | null,
  location: DiskUsage['location'] = 'data_folder',
): DiskUsage => ({
  kind,
  bytes,
  reclaimable_bytes,
  location,
  count: null,
  note: null,
})

describe('disk usage', () => {
  it('has labels for every kind, and for every kind that can be cleaned', () => {
    expect(Object.keys(diskKinds).sort()).toEqual([...diskKind.options].sort())
    expect(Object.keys(cleanUpEffects).sort()).toEqual([...cleanableKind.options].sort())
    expect([...safeKinds, 'edge_cache', 'unknown_apps'].sort()).toEqual([...cleanableKind.options].sort())
  })

  it('shows the largest kinds, combines one that is in two places, and sums up the rest', () => {
    const rows = [
      row('images', 900, 0, 'engine'),
      row('build_cache', 300, 300),
      row('build_cache', 400, 400, 'engine'),
      row('logs', 0, 0),
      row('bundles', 60, 10),
      row('databases', 50, 0),
      row('dumps', 40, 0),
      row('metrics', 30, 0),
      row('instance_database', 20, 0),
    ]
    expect(largestParts(rows)).toEqual([
      { name: 'Images', bytes: 900 },
      { name: 'Build cache', bytes: 700 },
      { name: 'Bundles and archives', bytes: 60 },
      { name: 'Databases', bytes: 50 },
      { name: 'Database dumps', bytes: 40 },
      { name: 'Other', bytes: 50 },
    ])
    expect(largestParts(rows).reduce((sum, part) => sum + part.bytes, 0)).toBe(rows.reduce((sum, { bytes }) => sum + bytes, 0))
  })

  it('sums what a clean-up frees, and says when it is unknown', () => {
    const rows = [row('images', 900, 500, 'engine'), row('build_cache', 300, null, 'engine'), row('build_cache', 200, 200), row('edge_cache', 70, 70)]
    expect(reclaimableSpace(rows, ['images'])).toEqual({ bytes: 500, is_certain: true })
    expect(reclaimableSpace(rows, ['build_cache'])).toEqual({ bytes: 200, is_certain: false })
    expect(reclaimableSpace(rows, safeKinds)).toEqual({ bytes: 700, is_certain: false })
  })

  it('warns before the disk is full', () => {
    expect([20e9, 4e9, 0.4e9, 0].map(freeSpaceLevel)).toEqual(['enough', 'low', 'nearly_none', 'nearly_none'])
  })
})
