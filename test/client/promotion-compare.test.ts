import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PromotedSettings, selectedChanges, compareSettings, compareVariables, type SettingName } from '../../server/client/promotion/compare.ts'
import type { VariableScope } from '../../server/client/promotion/sides.ts'
import { forEachSeed } from '../support/seeds.ts'

const corpus = new URL('../renderer/corpus/seeds.json', import.meta.url)

const here: PromotedSettings = {
  name: 'Shop',
  root_directory: 'apps/web',
  node_version: '24',
  install_command: 'auto',
  build_command: 'npm run ship',
  memory_limit_mb: 1024,
  always_warm: true,
  caching_enabled: true,
}
const settings: fc.Arbitrary<PromotedSettings> = fc.record({
  name: fc.constantFrom('Shop', 'Shop 2'),
  root_directory: fc.constantFrom('.', 'apps/web'),
  node_version: fc.constantFrom('auto', '24'),
  install_command: fc.constantFrom('auto', 'npm ci'),
  build_command: fc.constantFrom('auto', ''),
  memory_limit_mb: fc.constantFrom(512, 1024),
  always_warm: fc.boolean(),
  caching_enabled: fc.boolean(),
})
const names: fc.Arbitrary<VariableScope[]> = fc.array(
  fc.record({
    key: fc.constantFrom('A', 'B', 'API_URL', '__proto__', 'constructor'),
    environment: fc.constantFrom(null, 'production' as const, 'preview' as const),
  }),
  { maxLength: 12 },
)

describe('settings', () => {
  it('are compared with the defaults of a new project', () => {
    const rows = compareSettings(here, null)
    expect(rows.filter(({ difference }) => difference === 'differs').map(({ setting, source, target }) => [setting, source, target])).toEqual([
      ['root_directory', 'apps/web', '.'],
      ['node_version', '24', 'auto'],
      ['build_command', 'npm run ship', 'auto'],
      ['memory_limit_mb', 1024, 512],
      ['always_warm', true, false],
    ])
    expect(rows.every(({ is_default }) => is_default)).toBe(true)
    expect(rows[0]).toMatchObject({ setting: 'name', difference: 'same' })
  })

  it('only selected differences are changed', () => {
    const rows = compareSettings(here, { ...here, name: 'Berth', memory_limit_mb: 256 })
    expect(selectedChanges(rows, new Set<SettingName>(['memory_limit_mb', 'node_version']))).toEqual({ updateProject: { memory_limit_mb: 1024 } })
    expect(selectedChanges(rows, new Set())).toEqual({})
  })

  it('are equal after every difference is applied', async () => {
    await forEachSeed(corpus, async (seed) =>
      fc.assert(
        fc.property(settings, fc.option(settings), (ours, theirs) => {
          const rows = compareSettings(ours, theirs)
          expect(new Set(rows.map(({ setting }) => setting))).toEqual(new Set(Object.keys(ours)))
          const after = {
            ...Object.fromEntries(rows.map(({ setting, target }) => [setting, target])),
            ...Object.assign({}, ...Object.values(selectedChanges(rows, new Set(rows.map(({ setting }) => setting))))),
          }
          expect(after).toEqual(ours)
          expect(compareSettings(ours, ours).every(({ difference }) => difference === 'same')).toBe(true)
        }),
        { seed, numRuns: 100 },
      ),
    )
  })
})

describe('variables', () => {
  it('are compared by name: missing in the target, for other environments, only in the target', () => {
    const ours: VariableScope[] = [
      { key: 'API_URL', environment: null },
      { key: 'TOKEN', environment: 'preview' },
      { key: 'TOKEN', environment: 'production' },
      { key: 'MODE', environment: 'production' },
    ]
    const theirs: VariableScope[] = [
      { key: 'MODE', environment: null },
      { key: 'API_URL', environment: null },
      { key: 'REGION', environment: 'production' },
    ]
    expect(compareVariables(ours, theirs)).toEqual([
      { key: 'API_URL', source: [null], target: [null], difference: 'same' },
      { key: 'MODE', source: ['production'], target: [null], difference: 'differs' },
      { key: 'REGION', source: [], target: ['production'], difference: 'only_there' },
      { key: 'TOKEN', source: ['production', 'preview'], target: [], difference: 'only_here' },
    ])
  })

  it('compares only names: no row contains a value', () => {
    const withValues = [{ id: 'env_1', key: 'TOKEN', value: 'hunter2', environment: null, is_sensitive: true, created_at: '', updated_at: '' }]
    expect(JSON.stringify(compareVariables(withValues, []))).not.toContain('hunter2')
  })

  it('have one row each, symmetric in both directions and in a stable order', async () => {
    const turned = { same: 'same', differs: 'differs', only_here: 'only_there', only_there: 'only_here' } as const
    await forEachSeed(corpus, async (seed) =>
      fc.assert(
        fc.property(names, names, (ours, theirs) => {
          const rows = compareVariables(ours, theirs)
          const keys = rows.map(({ key }) => key)
          expect(new Set(keys).size).toBe(keys.length)
          expect(new Set(keys)).toEqual(new Set([...ours, ...theirs].map(({ key }) => key)))
          expect(compareVariables(theirs, ours)).toEqual(
            rows.map(({ key, source, target, difference }) => ({ key, source: target, target: source, difference: turned[difference] })),
          )
          expect(compareVariables(ours.toReversed(), [...theirs, ...theirs])).toEqual(rows)
          for (const row of rows) {
            expect(row.difference === 'only_here').toBe(row.target.length === 0)
            expect(row.difference === 'only_there').toBe(row.source.length === 0)
          }
        }),
        { seed, numRuns: 100 },
      ),
    )
  })
})
