import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Settings,
  changesOf,
  compareSettings,
  compareVariables,
  type SettingName,
  type VariableName,
} from '../../renderer/features/promote/compare.ts'
import { onSeeds } from '../support/seeds.ts'

const corpus = new URL('corpus/seeds.json', import.meta.url)

const here: Settings = {
  name: 'Shop',
  root_directory: 'apps/web',
  node_version: '24',
  install_command: 'auto',
  build_command: 'npm run ship',
  memory_limit_mb: 1024,
  always_warm: true,
  caching_enabled: true,
}
const settings: fc.Arbitrary<Settings> = fc.record({
  name: fc.constantFrom('Shop', 'Shop 2'),
  root_directory: fc.constantFrom('.', 'apps/web'),
  node_version: fc.constantFrom('auto', '24'),
  install_command: fc.constantFrom('auto', 'npm ci'),
  build_command: fc.constantFrom('auto', ''),
  memory_limit_mb: fc.constantFrom(512, 1024),
  always_warm: fc.boolean(),
  caching_enabled: fc.boolean(),
})
const names: fc.Arbitrary<VariableName[]> = fc.array(
  fc.record({
    key: fc.constantFrom('A', 'B', 'API_URL', '__proto__', 'constructor'),
    environment: fc.constantFrom(null, 'production' as const, 'preview' as const),
  }),
  { maxLength: 12 },
)

describe('settings', () => {
  it('stand beside what a new project would begin with', () => {
    const rows = compareSettings(here, null)
    expect(rows.filter(({ fate }) => fate === 'differs').map(({ what, here: ours, there }) => [what, ours, there])).toEqual([
      ['root_directory', 'apps/web', '.'],
      ['node_version', '24', 'auto'],
      ['build_command', 'npm run ship', 'auto'],
      ['memory_limit_mb', 1024, 512],
      ['always_warm', true, false],
    ])
    expect(rows.every(({ is_default }) => is_default)).toBe(true)
    expect(rows[0]).toMatchObject({ what: 'name', fate: 'same' })
  })

  it('change there only what differs and was chosen', () => {
    const rows = compareSettings(here, { ...here, name: 'Berth', memory_limit_mb: 256 })
    expect(changesOf(rows, new Set<SettingName>(['memory_limit_mb', 'node_version']))).toEqual({ memory_limit_mb: 1024 })
    expect(changesOf(rows, new Set())).toEqual({})
  })

  it('are the same after all of the differences were taken along, whatever they were', async () => {
    await onSeeds(corpus, async (seed) =>
      fc.assert(
        fc.property(settings, fc.option(settings), (ours, theirs) => {
          const rows = compareSettings(ours, theirs)
          expect(new Set(rows.map(({ what }) => what))).toEqual(new Set(Object.keys(ours)))
          const after = {
            ...Object.fromEntries(rows.map(({ what, there }) => [what, there])),
            ...changesOf(rows, new Set(rows.map(({ what }) => what))),
          }
          expect(after).toEqual(ours)
          expect(compareSettings(ours, ours).every(({ fate }) => fate === 'same')).toBe(true)
        }),
        { seed, numRuns: 100 },
      ),
    )
  })
})

describe('variables', () => {
  it('are told by name: missing there, for other environments, only there', () => {
    const ours: VariableName[] = [
      { key: 'API_URL', environment: null },
      { key: 'TOKEN', environment: 'preview' },
      { key: 'TOKEN', environment: 'production' },
      { key: 'MODE', environment: 'production' },
    ]
    const theirs: VariableName[] = [
      { key: 'MODE', environment: null },
      { key: 'API_URL', environment: null },
      { key: 'REGION', environment: 'production' },
    ]
    expect(compareVariables(ours, theirs)).toEqual([
      { what: 'API_URL', here: [null], there: [null], fate: 'same' },
      { what: 'MODE', here: ['production'], there: [null], fate: 'differs' },
      { what: 'REGION', here: [], there: ['production'], fate: 'only_there' },
      { what: 'TOKEN', here: ['production', 'preview'], there: [], fate: 'only_here' },
    ])
  })

  it('look at nothing but names: a value is in no row', () => {
    const withValues = [{ id: 'env_1', key: 'TOKEN', value: 'hunter2', environment: null, is_sensitive: true, created_at: '', updated_at: '' }]
    expect(JSON.stringify(compareVariables(withValues, []))).not.toContain('hunter2')
  })

  it('are each in one row, from either side the same, and in no order of their own', async () => {
    const turned = { same: 'same', differs: 'differs', only_here: 'only_there', only_there: 'only_here' } as const
    await onSeeds(corpus, async (seed) =>
      fc.assert(
        fc.property(names, names, (ours, theirs) => {
          const rows = compareVariables(ours, theirs)
          const keys = rows.map(({ what }) => what)
          expect(new Set(keys).size).toBe(keys.length)
          expect(new Set(keys)).toEqual(new Set([...ours, ...theirs].map(({ key }) => key)))
          expect(compareVariables(theirs, ours)).toEqual(
            rows.map(({ what, here: a, there: b, fate }) => ({ what, here: b, there: a, fate: turned[fate] })),
          )
          expect(compareVariables(ours.toReversed(), [...theirs, ...theirs])).toEqual(rows)
          for (const row of rows) {
            expect(row.fate === 'only_here').toBe(row.there.length === 0)
            expect(row.fate === 'only_there').toBe(row.here.length === 0)
          }
        }),
        { seed, numRuns: 100 },
      ),
    )
  })
})
