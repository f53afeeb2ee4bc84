import { fireEvent, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { AddVariableDialog } from '../../../renderer/features/environment/add-variable-dialog.tsx'
import { isSecretName, type StagedVariable } from '../../../renderer/features/environment/change-set.ts'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { projectEnvVar } from '../../../server/contract/env-vars.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createVariable = (own: Partial<StagedVariable> = {}): StagedVariable => ({
  ...createExample(projectEnvVar, { id: 'env_1', key: 'A', value: 'one', environment: null }),
  change: null,
  ...own,
})
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
const isChecked = (label: string) => screen.getByLabelText(label).getAttribute('aria-checked') === 'true'
const switches = () => screen.getAllByRole('switch').map((one) => document.querySelector(`label[for="${one.id}"]`)?.textContent)

const renderAdd = (existing: StagedVariable[] = [], initialKey = '', data: [readonly string[], unknown][] = []) => {
  const added: unknown[] = []
  const files: string[] = []
  const dialog = (
    <AddVariableDialog
      existing={existing}
      initialKey={initialKey}
      onOpenChange={() => {}}
      onAdded={(one) => added.push(one)}
      onFile={(text) => files.push(text)}
    />
  )
  return { ...renderPart(dialog, { data }), added, files }
}
const exposure = { is_sensitive: false, is_write_only: false, is_build_secret: false }

test('a variable is added for production and previews', async () => {
  const { user, added } = renderAdd([], 'PORT')
  fill('Value', '80')
  await user.click(button('Add variable'))
  expect(added).toEqual([{ key: 'PORT', value: '80', environment: null, ...exposure }])
})

test('a variable is added for one environment, as a write-only build secret', async () => {
  const { user, added } = renderAdd()
  fill('Key', ' PORT ')
  fill('Environment', 'preview')
  await user.click(screen.getByLabelText('Sensitive'))
  await user.click(screen.getByLabelText('Build secret'))
  await user.click(screen.getByLabelText('Write-only'))
  expect(switches()).toEqual(['Write-only', 'Build secret'])
  await user.click(button('Add variable'))
  expect(added).toEqual([{ key: 'PORT', value: '', environment: 'preview', is_sensitive: true, is_write_only: true, is_build_secret: true }])
})

test('a name of a secret is sensitive until the user decides otherwise', async () => {
  const { user, added } = renderAdd()
  expect(isChecked('Sensitive')).toBe(false)
  fill('Key', 'API_TOKEN')
  expect(isChecked('Sensitive')).toBe(true)
  await user.click(button('Add variable'))
  await user.click(screen.getByLabelText('Sensitive'))
  await user.click(button('Add variable'))
  expect(added).toMatchObject([{ is_sensitive: true }, { is_sensitive: false }])
})

test.each([
  ['API_KEY', true],
  ['my_secret', true],
  ['Token1', true],
  ['DB_PASSWORD', true],
  ['PORT', false],
])('%s is the name of a secret: %s', (key, expected) => expect(isSecretName(key)).toBe(expected))

const production = createVariable({ environment: 'production' })
test.each<[string, StagedVariable[], string, string, string | null]>([
  ['exists', [createVariable()], 'A', 'both', 'A already exists for production and previews. Change its value in the list.'],
  ['exists in another environment', [createVariable()], 'A', 'production', null],
  ['exists in production', [production], 'A', 'production', 'A already exists for production. Change its value in the list.'],
  [
    'exists in previews',
    [createVariable({ environment: 'preview' })],
    'A',
    'preview',
    'A already exists for previews. Change its value in the list.',
  ],
  ['is being deleted', [createVariable({ change: 'deleted' })], 'A', 'both', null],
  ['has another name', [createVariable({ key: 'B' })], 'A', 'both', null],
  ['has a wrong name', [], '1A', 'both', 'Use letters, digits and underscores, with no digit at the start.'],
  ['has a reserved name', [], 'HOMEPORT_A', 'both', 'Names that start with HOMEPORT_ are reserved. Choose another name.'],
])('a new variable that %s', async (_, existing, key, environment, error) => {
  const { user, added } = renderAdd(existing)
  fill('Key', key)
  fill('Environment', environment)
  expect(screen.queryByRole('alert')?.textContent ?? null).toBe(error)
  await user.click(button('Add variable'))
  expect(added).toHaveLength(error === null ? 1 : 0)
})

test('a key is missed only after the first attempt', async () => {
  const { user, added } = renderAdd()
  expect(screen.queryByRole('alert')).toBeNull()
  await user.click(button('Add variable'))
  expect(screen.getByRole('alert').textContent).toBe('Enter a key.')
  expect(added).toEqual([])
})

test('a value that is too long is not added', async () => {
  const { user, added } = renderAdd([], 'A')
  fill('Value', 'x'.repeat(100_000))
  await user.click(button('Add variable'))
  expect(screen.getByRole('alert').textContent).toMatch(/^A value has at most [\d,]+ characters; this one has 100,000\.$/)
  expect(screen.getByLabelText('Value').getAttribute('aria-invalid')).toBe('true')
  expect(added).toEqual([])
})

test.each([
  ['PORT', '', []],
  ['= 80', '', []],
  ['PORT=80', 'PORT', []],
  ['PORT=80\nHOST=a', '', ['PORT=80\nHOST=a']],
])('%j that is pasted into the key', (text, key, expected) => {
  const { files } = renderAdd()
  const wasDefault = fireEvent.paste(screen.getByLabelText('Key'), { clipboardData: { getData: () => text } })
  expect([screen.getByLabelText<HTMLInputElement>('Key').value, files]).toEqual([key, expected])
  expect(screen.getByLabelText<HTMLTextAreaElement>('Value').value).toBe(key === '' ? '' : '80')
  expect(wasDefault).toBe(key === '' && expected.length === 0)
})

test.each<[string, [readonly string[], unknown][]]>([
  ['a hosted account', [[queryKeys.session, null]]],
  ['another instance, before it responds', []],
])('%s has no write-only variables and no build secrets', (_, data) => {
  useConnection.setState({ current: { ...localConnection, id: 'rem_1' } })
  renderAdd([], '', data)
  expect(switches()).toEqual(['Sensitive'])
})
