import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { PromotionWarnings, SettingDifferences, VariableDifferences } from '../../../renderer/features/promotion/differences.tsx'
import type { SettingComparison, SettingName, VariableComparison } from '../../../server/client/promotion/compare.ts'
import { renderPart } from '../../support/dashboard.tsx'

const names = { from: 'Laptop', to: 'Server' }
const createSetting = (setting: SettingName, own: Partial<SettingComparison> = {}): SettingComparison => ({
  setting,
  source: 512,
  target: 256,
  is_default: false,
  difference: 'differs',
  ...own,
})
const memory = createSetting('memory_limit_mb')
const warm = createSetting('always_warm', { source: true, target: false })
const same = createSetting('name', { source: 'Shop', target: 'Shop', difference: 'same' })
function openSettings(rows: SettingComparison[], chosen: SettingName[] = []) {
  const onChoose = vi.fn<(chosen: ReadonlySet<SettingName>) => void>()
  const part = renderPart(<SettingDifferences rows={rows} names={names} chosen={new Set(chosen)} onChoose={onChoose} />)
  return { ...part, chosen: () => onChoose.mock.calls.map(([next]) => [...next]) }
}
const createVariable = (key: string, own: Partial<VariableComparison> = {}): VariableComparison => ({
  key,
  source: [null],
  target: [],
  difference: 'only_here',
  ...own,
})
function openVariables(rows: VariableComparison[], chosen: string[] = []) {
  const onChoose = vi.fn<(chosen: ReadonlySet<string>) => void>()
  const part = renderPart(<VariableDifferences rows={rows} names={names} chosen={new Set(chosen)} onChoose={onChoose} />)
  return { ...part, chosen: () => onChoose.mock.calls.map(([next]) => [...next]) }
}
const checkbox = (name: string | RegExp) => screen.getByRole<HTMLInputElement>('checkbox', { name })
const table = 'Copy these settings Settings that differ Name Laptop'

test.each<[string, SettingComparison[], string]>([
  ['the same', [same], 'Settings No differences.'],
  ['a new project with the same', [{ ...same, is_default: true }], 'Settings The new project gets the same settings.'],
  ['one that differs', [memory], `Settings ${table} Server Memory 512 MB 256 MB`],
  ['one that differs of two', [memory, same], `Settings ${table} Server Memory 512 MB 256 MB One other setting is the same.`],
  [
    'some that differ from a new project',
    [memory, warm, { ...same, is_default: true }, { ...same, setting: 'apps' }],
    `Settings ${table} Server (a new project) Memory 512 MB 256 MB Always warm on off 2 other settings are the same.`,
  ],
])('settings: %s', (_, rows, expected) => expect(openSettings(rows).text()).toBe(expected))

test.each<[SettingName[], boolean, boolean]>([
  [[], false, false],
  [['memory_limit_mb'], false, true],
  [['memory_limit_mb', 'always_warm', 'name'], true, false],
])('with %j chosen, the checkbox of all settings is checked: %s, or in between: %s', (chosen, isChecked, isBetween) => {
  openSettings([memory, warm, same], chosen)
  expect(checkbox('Copy these settings')).toMatchObject({ checked: isChecked, indeterminate: isBetween })
  expect(checkbox('Memory')).toHaveProperty('checked', chosen.includes('memory_limit_mb'))
})

test('settings are chosen all at once or one by one', async () => {
  const { user, chosen } = openSettings([memory, warm, same], ['memory_limit_mb'])
  await user.click(checkbox('Copy these settings'))
  await user.click(checkbox('Memory'))
  await user.click(checkbox('Always warm'))
  expect(chosen()).toEqual([['memory_limit_mb', 'always_warm'], [], ['memory_limit_mb', 'always_warm']])
})

test('all settings are left out', async () => {
  const { user, chosen } = openSettings([memory], ['memory_limit_mb'])
  await user.click(checkbox('Copy these settings'))
  expect(chosen()).toEqual([[]])
})

const kept = 'Existing values are kept and nothing is deleted.'
const sent = `Only the variables you select are copied: their values are sent from Laptop to Server. ${kept}`
const header = 'Variables that differ Name Laptop Server'
test.each<[string, VariableComparison[], string[], string]>([
  ['none', [], [], 'Variables Neither project has variables.'],
  [
    'the same',
    [createVariable('A', { target: [null], difference: 'same' })],
    [],
    'Variables Both projects have the same variables. Values are not compared.',
  ],
  ['one that is missing', [createVariable('A')], [], `Variables ${sent} ${header} A production and previews not set`],
  [
    'one that is only there',
    [createVariable('A', { source: [], target: ['production'], difference: 'only_there' })],
    [],
    `Variables ${kept} ${header} A not set production (kept)`,
  ],
  [
    'one that is write-only, and one that is the same',
    [createVariable('A', { is_write_only: true }), createVariable('B', { difference: 'same' })],
    [],
    `Variables ${kept} ${header} A production and previews not set (write-only: add it there) One other name is the same.`,
  ],
  [
    'one of different environments',
    [createVariable('A', { source: ['production', 'preview'], target: [null], difference: 'differs', is_write_only: true })],
    [],
    `Variables ${kept} ${header} A production; previews production and previews`,
  ],
  [
    'several that are missing',
    [createVariable('A'), createVariable('B')],
    [],
    `Variables ${sent} ${header} A production and previews not set B production and previews not set Select all 2 missing`,
  ],
  [
    'several that are missing, of which some are chosen',
    [createVariable('A'), createVariable('B')],
    ['A'],
    `Variables ${sent} ${header} A production and previews not set B production and previews not set Select all 2 missing Clear selection`,
  ],
])('variables: %s', (_, rows, chosen, expected) => expect(openVariables(rows, chosen).text()).toBe(expected))

test('only variables that can be copied are chosen', async () => {
  const rows = [
    createVariable('A'),
    createVariable('B'),
    createVariable('C', { is_write_only: true }),
    createVariable('D', { difference: 'differs' }),
  ]
  const { user, chosen } = openVariables(rows, ['A'])
  expect(screen.getAllByRole('checkbox')).toHaveLength(2)
  expect([checkbox('A').checked, checkbox('B').checked]).toEqual([true, false])
  await user.click(checkbox('B'))
  await user.click(checkbox('A'))
  await user.click(screen.getByRole('button', { name: 'Select all 2 missing' }))
  await user.click(screen.getByRole('button', { name: 'Clear selection' }))
  expect(chosen()).toEqual([['A', 'B'], [], ['A', 'B'], []])
})

test.each([
  [[], ''],
  [['The app may sleep there.'], 'Before you continue The app may sleep there.'],
])('the warnings %j', (warnings, expected) => expect(renderPart(<PromotionWarnings warnings={warnings} />).text()).toBe(expected))
