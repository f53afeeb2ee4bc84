import { fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { StagedVariable } from '../../../renderer/features/environment/change-set.ts'
import { EditVariableDialog } from '../../../renderer/features/environment/edit-variable-dialog.tsx'
import { TextEditDialog } from '../../../renderer/features/environment/text-edit-dialog.tsx'
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

const renderEdit = (own: Partial<StagedVariable>) => {
  const changes: unknown[] = []
  const dialog = <EditVariableDialog variable={createVariable(own)} onOpenChange={() => {}} onChanged={(change) => changes.push(change)} />
  return { ...renderPart(dialog), changes }
}

test.each<[string, Partial<StagedVariable>, string, string]>([
  ['of both environments', {}, 'one', 'Edit A For production and previews.'],
  ['of previews', { environment: 'preview' }, 'one', 'Edit A For previews.'],
  ['that is sensitive', { is_sensitive: true, environment: 'production' }, '', 'Edit A For production.'],
  ['that is sensitive and was changed', { is_sensitive: true, change: 'changed' }, 'one', 'Edit A For production and previews.'],
])('the value of a variable %s', (_, own, value, title) => {
  const { text } = renderEdit(own)
  const field = screen.getByLabelText<HTMLTextAreaElement>('Value')
  expect([field.value, field.placeholder]).toEqual([value, value === '' ? 'Hidden; leave empty to keep it' : ''])
  expect(text().slice(0, title.length)).toBe(title)
  expect(button('Change').disabled).toBe(true)
})

test('a sensitive value is replaced without being shown', async () => {
  const { user, changes } = renderEdit({ is_sensitive: true })
  fill('Value', 'two')
  expect(screen.getByLabelText<HTMLTextAreaElement>('Value').value).toBe('two')
  await user.click(button('Change'))
  expect(changes).toEqual([{ value: 'two' }])
})

test('who can read a value is changed without its value', async () => {
  const { user, changes } = renderEdit({})
  await user.click(screen.getByLabelText('Build secret'))
  await user.click(screen.getByLabelText('Write-only'))
  await user.click(button('Change'))
  expect(changes).toEqual([{ is_build_secret: true, is_write_only: true }])
})

test('a value stays readable if only that it is sensitive changes', async () => {
  const { user, changes, text } = renderEdit({})
  expect(text()).toContain('Write-only No one can read the value again, not even you; apps and builds get it. This cannot be undone.')
  await user.click(screen.getByLabelText('Sensitive'))
  await user.click(button('Change'))
  expect(changes).toEqual([{ is_sensitive: true }])
})

test('a write-only value stays write-only', () => {
  const { text } = renderEdit({ is_write_only: true, is_sensitive: true })
  expect(screen.getByLabelText<HTMLButtonElement>('Write-only').disabled).toBe(true)
  expect(text()).toContain('No one can read the value. To make it readable, delete the variable and add it again.')
})

const renderText = (variables: StagedVariable[]) => {
  const edits: unknown[] = []
  return { ...renderPart(<TextEditDialog variables={variables} onOpenChange={() => {}} onEdited={(edit) => edits.push(edit)} />), edits }
}
const area = () => screen.getByLabelText<HTMLTextAreaElement>('Variables')
const about = () => document.getElementById(area().getAttribute('aria-describedby') ?? '')?.textContent
const all = [
  createVariable(),
  createVariable({ id: 'env_2', key: 'API_TOKEN' }),
  createVariable({ id: 'env_3', key: 'OLD', change: 'deleted' }),
  createVariable({ id: 'env_4', key: 'P', value: 'two', environment: 'preview' }),
]

test('variables of an environment are shown as text', () => {
  renderText(all)
  expect([area().value, about(), button('Apply changes').disabled]).toEqual(['A=one\nAPI_TOKEN=<hidden>\n', 'No changes.', true])
  fill('Variables', 'A=changed')
  fill('Environment', 'preview')
  expect([area().value, about()]).toEqual(['P=two\n', 'No changes.'])
})

test.each<[string, string, string, boolean]>([
  ['additions', 'A=one\nAPI_TOKEN=<hidden>\nB=1\nC=1', '2 added.', false],
  ['a change and a deletion', 'A=two', '1 changed, 1 deleted.', false],
  ['all kinds', 'A=two\nB=1', '1 added, 1 changed, 1 deleted.', false],
  ['a mistake', 'A=two\nwhat', 'Line 2: not a KEY=value line.', true],
  ['four mistakes', 'a b\nc d\ne f\ng h', 'Line 1: not a KEY=value line. Line 2: not a KEY=value line. Line 3: not a KEY=value line.', true],
])('a text with %s', async (_, text, expected, isWrong) => {
  const { user, edits } = renderText(all)
  fill('Variables', text)
  expect([about(), button('Apply changes').disabled]).toEqual([expected, isWrong])
  fireEvent.submit(area().closest('form') ?? area())
  expect(edits).toHaveLength(isWrong ? 0 : 1)
  await user.click(button('Cancel'))
})

test('the environments that can be chosen', () => {
  renderText(all)
  const options = within(screen.getByLabelText('Environment')).getAllByRole('option')
  expect(options.map(({ textContent }) => textContent)).toEqual(['Production and previews', 'Production', 'Previews'])
})
