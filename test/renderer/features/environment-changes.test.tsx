import { screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { type ChangeSet, noChanges, type StagedVariable } from '../../../renderer/features/environment/change-set.ts'
import { ChangesBar } from '../../../renderer/features/environment/changes-bar.tsx'
import { VariableRow } from '../../../renderer/features/environment/variable-row.tsx'
import { projectEnvVar } from '../../../server/contract/env-vars.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const before = '2026-01-31T12:00:00.000Z'
const createVariable = (own: Partial<StagedVariable> = {}): StagedVariable => ({
  ...createExample(projectEnvVar, { id: 'env_1', key: 'A', value: 'one', environment: null, updated_at: before }),
  change: null,
  ...own,
})
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })

const renderRow = (own: Partial<StagedVariable>, showsAll = false) => {
  const calls: string[] = []
  const call = (name: string) => () => void calls.push(name)
  const part = renderPart(
    <VariableRow
      variable={createVariable(own)}
      showsAll={showsAll}
      isSelected={false}
      onSelect={(isSelected) => calls.push(`select ${isSelected}`)}
      onEdit={call('edit')}
      onDelete={call('delete')}
      onUndo={call('undo')}
    />,
  )
  return { ...part, calls }
}

const mask = '••••••••••••'
test.each<[string, Partial<StagedVariable>, boolean, string]>([
  ['hidden', {}, false, `A [Value of A, hidden] ${mask}Jan 31, 2026 [Show value of A] [Copy value of A]`],
  ['shown', {}, true, 'A [Value of A] one Jan 31, 2026 [Hide value of A] [Copy value of A]'],
  ['empty', { value: '' }, true, 'A [Value of A] empty Jan 31, 2026 [Hide value of A] [Copy value of A]'],
  ['sensitive', { is_sensitive: true }, true, `ASensitive [Value of A, hidden] ${mask}Jan 31, 2026 [Show value of A] [Copy value of A]`],
  [
    'named like a secret',
    { key: 'API_TOKEN' },
    true,
    `API_TOKEN [Value of API_TOKEN, hidden] ${mask}Jan 31, 2026 [Show value of API_TOKEN] [Copy value of API_TOKEN]`,
  ],
  ['write-only', { is_sensitive: true, is_write_only: true }, true, `AWrite-only [Value of A, write-only] ${mask}Jan 31, 2026`],
  ['a build secret', { is_build_secret: true }, true, 'ABuild secret [Value of A] one Jan 31, 2026 [Hide value of A] [Copy value of A]'],
  ['new', { change: 'added', updated_at: '' }, true, 'ANew [Value of A] one [Hide value of A] [Copy value of A]'],
  ['changed', { change: 'changed' }, true, 'AChanged [Value of A] one Jan 31, 2026 [Hide value of A] [Copy value of A]'],
  ['deleted', { change: 'deleted' }, true, 'ADeleted [Value of A] one Jan 31, 2026'],
])('a variable that is %s', (_, own, showsAll, expected) => {
  const key = own.key ?? 'A'
  expect(renderRow(own, showsAll).text()).toBe(`[Select ${key}] ${expected} [Actions for ${key}]`)
  expect(screen.getByRole<HTMLInputElement>('checkbox').disabled).toBe(own.change === 'deleted')
})

test.each<[string, Partial<StagedVariable>, string[]]>([
  ['a variable', {}, ['Edit value…', 'Delete']],
  ['a write-only variable', { is_write_only: true }, ['Replace value…', 'Delete']],
  ['a changed variable', { change: 'changed' }, ['Edit value…', 'Undo change', 'Delete']],
  ['a deleted variable', { change: 'deleted' }, ['Undo change']],
])('the actions of %s', async (_, own, expected) => {
  const { user } = renderRow(own)
  await user.click(button('Actions for A'))
  expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual(expected)
})

test('one value is shown and hidden', async () => {
  const { user, text, calls } = renderRow({ is_sensitive: true }, true)
  await user.click(button('Show value of A'))
  expect(text()).toContain('[Value of A] one')
  await user.click(button('Hide value of A'))
  expect(text()).toContain('[Value of A, hidden]')
  await user.click(screen.getByRole('checkbox'))
  expect(calls).toEqual(['select true'])
})

const renderBar = (changes: ChangeSet, { hasServing = true, answers = {} } = {}) => {
  const onSaved = vi.fn<(id: string | null) => void>()
  const onDiscard = vi.fn<() => void>()
  const variables = [createVariable(), createVariable({ id: 'env_2', environment: 'preview' })]
  const bar = <ChangesBar slug="shop" variables={variables} changes={changes} hasServing={hasServing} onDiscard={onDiscard} onSaved={onSaved} />
  return { ...renderPart(bar, { answers: { listProjectEnvVars: { env_vars: [] }, ...answers } }), onSaved, onDiscard }
}
const deletes = (...ids: string[]): ChangeSet => ({ ...noChanges, delete: ids })

test.each<[string, ChangeSet, boolean, string]>([
  ['no changes', noChanges, true, ''],
  ['a change of production', deletes('env_1'), true, '[Unsaved changes] 1 change Discard Save Save and redeploy'],
  ['changes of previews only', deletes('env_2'), true, '[Unsaved changes] 1 change Discard Save'],
  ['changes before the first deployment', deletes('env_1', 'env_2'), false, '[Unsaved changes] 2 changes Discard Save'],
])('%s can be saved', (_, changes, hasServing, expected) => {
  expect(renderBar(changes, { hasServing }).text()).toBe(expected)
  if (expected !== '') expect(button('Save').className).toContain(expected.endsWith('redeploy') ? 'button-plain' : 'button-primary')
})

test.each([
  ['Save', false, null],
  ['Save and redeploy', true, 'dpl_2'],
])('“%s” sends all changes', async (name, redeploy, deployment_id) => {
  const { user, sent, onSaved } = renderBar(deletes('env_1'), { answers: { changeProjectEnvVars: { created: [], deployment_id } } })
  await user.click(button(name))
  expect(sent).toEqual([
    { operation: 'changeProjectEnvVars', params: { slug: 'shop' }, body: { create: [], update: [], delete: ['env_1'], redeploy } },
  ])
  await waitFor(() => expect(onSaved.mock.calls[0]?.[0]).toBe(deployment_id))
})

test('changes that are being saved cannot be discarded', async () => {
  const { user } = renderBar(deletes('env_1'))
  await user.click(button('Save'))
  expect(button('Discard').disabled).toBe(true)
})

test('changes that cannot be saved say why until they are discarded', async () => {
  const { user, text, onSaved, onDiscard } = renderBar(deletes('env_1'), {
    answers: { changeProjectEnvVars: problemResponse('env_var_not_found', 'It is gone.') },
  })
  await user.click(button('Save'))
  await waitFor(() => expect(text()).toContain('It is gone. env_var_not_found'))
  await user.click(button('Discard'))
  expect([text().includes('It is gone.'), onDiscard.mock.calls.length, onSaved.mock.calls.length]).toEqual([false, 1, 0])
})
