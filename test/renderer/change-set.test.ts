import { expect, test } from 'vitest'
import type { ProjectEnvVar } from '../../server/contract/env-vars.ts'
import {
  affectsProduction,
  countChanges,
  noChanges,
  stageAdditions,
  stageDeletions,
  stageEdit,
  stageVariables,
  unstage,
} from '../../renderer/features/environment/change-set.ts'
import { formatVariables, hiddenValue, planTextEdit } from '../../renderer/features/environment/text-edit.ts'

const variable = (key: string, change: Partial<ProjectEnvVar> = {}): ProjectEnvVar => ({
  id: `env_${key}`,
  key,
  value: key.toLowerCase(),
  environment: null,
  is_sensitive: false,
  is_write_only: false,
  is_build_secret: false,
  created_at: '2026',
  updated_at: '2026',
  ...change,
})
const variables = [
  variable('A'),
  variable('B', { environment: 'preview' }),
  variable('API_KEY'),
  variable('MUTE', { value: '', is_write_only: true }),
]
const shown = (changes = noChanges) => stageVariables(variables, changes).map(({ key, value, change }) => [key, value, change])

test('changes are shown in the list until they are saved, and each can be taken back', () => {
  let changes = stageAdditions(noChanges, [{ key: 'C', value: 'new' }])
  changes = stageEdit(changes, { id: 'env_A' }, { value: 'changed' })
  changes = stageDeletions(changes, ['env_B'])
  expect(countChanges(changes)).toBe(3)
  expect(shown(changes)).toEqual([
    ['A', 'changed', 'changed'],
    ['API_KEY', 'api_key', null],
    ['B', 'b', 'deleted'],
    ['C', 'new', 'added'],
    ['MUTE', '', null],
  ])
  const added = stageVariables(variables, changes).find(({ key }) => key === 'C')?.id ?? ''
  expect(stageEdit(changes, { id: added }, { value: 'newer' }).create).toMatchObject([{ key: 'C', value: 'newer' }])
  expect(stageDeletions(changes, [added])).toMatchObject({ create: [], delete: ['env_B'] })
  for (const id of ['env_A', 'env_B', added]) expect(countChanges(unstage(changes, id))).toBe(2)
  expect(unstage(changes, added).create).toEqual([])
})

test('an addition that the list has already, because it was just saved, is shown once', () => {
  expect(shown(stageAdditions(noChanges, [{ key: 'A', value: 'a' }]))).toEqual(shown())
})

test('only changes of production need a deployment of production', () => {
  expect(affectsProduction(stageDeletions(noChanges, ['env_B']), variables)).toBe(false)
  expect(affectsProduction(stageAdditions(noChanges, [{ key: 'B', value: 'x' }]), variables)).toBe(true)
})

test('all variables as text: secrets are placeholders that keep their value', () => {
  const staged = stageVariables(variables, noChanges).filter(({ environment }) => environment === null)
  const text = formatVariables(staged)
  expect(text).toBe(`A=a\nAPI_KEY=${hiddenValue}\nMUTE=${hiddenValue}\n`)
  expect(planTextEdit(text, null, staged)).toEqual({ problems: [], create: [], update: {}, delete: [] })
  expect(planTextEdit('A=b\nMUTE=known\nNEW=1', null, staged)).toMatchObject({
    create: [{ key: 'NEW', value: '1', environment: null }],
    update: { env_A: { value: 'b' }, env_MUTE: { value: 'known' } },
    delete: ['env_API_KEY'],
  })
  expect(planTextEdit(`words\n1ST=x\nOTHER=${hiddenValue}`, null, staged).problems).toHaveLength(3)
})
