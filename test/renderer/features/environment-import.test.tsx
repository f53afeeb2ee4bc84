import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { StagedVariable } from '../../../renderer/features/environment/change-set.ts'
import { readEnvFile } from '../../../renderer/features/environment/env-file.ts'
import { planImport } from '../../../renderer/features/environment/import-plan.ts'
import { ImportVariablesDialog } from '../../../renderer/features/environment/import-variables-dialog.tsx'
import { projectEnvVar } from '../../../server/contract/env-vars.ts'
import { limits } from '../../../server/contract/limits.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createVariable = (key: string, own: Partial<StagedVariable> = {}): StagedVariable => ({
  ...createExample(projectEnvVar, { id: `env_${key}`, key, value: 'one', environment: null }),
  change: null,
  ...own,
})
const renderImport = ({ text = '', error = null, existing = [] }: { text?: string; error?: string | null; existing?: StagedVariable[] } = {}) => {
  const added: unknown[] = []
  const dialog = (
    <ImportVariablesDialog existing={existing} initial={{ text, error }} onOpenChange={() => {}} onAdded={(variables) => added.push(variables)} />
  )
  return { ...renderPart(dialog), added }
}
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
const preview = () => within(screen.getByRole('region', { name: 'Import preview' }))
const lines = () =>
  preview()
    .queryAllByRole('listitem')
    .map(({ textContent }) => textContent)
const exposure = { is_sensitive: false, is_write_only: false, is_build_secret: false }

test.each<[string, string, string, string, string[]]>([
  ['nothing', ' ', 'The preview of your import appears here.', 'Add', []],
  ['a comment', '# Ports', 'No KEY=value lines found.', 'Add', []],
  ['a variable', 'PORT=80', '1 will be added, 0 skipped, 0 rejected.', 'Add 1 variable', ['Line 1PORTAdded']],
  [
    'several lines',
    'PORT=80\nA=one\nHOST=a\nPORT=81\n1B=1\nwhat',
    '2 will be added, 2 skipped, 2 rejected.',
    'Add 2 variables',
    [
      'Line 1PORTSkipped: line 4 sets the same key and takes precedence.',
      'Line 2ASkipped: already exists with the same value.',
      'Line 3HOSTAdded',
      'Line 4PORTAdded',
      'Line 51BRejected: use letters, digits and underscores, with no digit at the start.',
      'Line 6Rejected: not a KEY=value line.',
    ],
  ],
])('the preview of %s', (_, text, summary, name, expected) => {
  renderImport({ text, existing: [createVariable('A')] })
  expect(preview().getByRole('status').textContent).toBe(summary)
  expect(lines()).toEqual(expected)
  expect(button(name).disabled).toBe(name === 'Add')
})

test('variables are imported for both environments, and secrets are sensitive', async () => {
  const { user, added } = renderImport({ text: 'PORT=80\nAPI_KEY=1' })
  await user.click(button('Add 2 variables'))
  expect(added).toEqual([
    [
      { key: 'PORT', value: '80', environment: null, ...exposure },
      { key: 'API_KEY', value: '1', environment: null, ...exposure, is_sensitive: true },
    ],
  ])
})

test('variables are imported for one environment, with what is chosen for all', async () => {
  const { user, added, text } = renderImport({ existing: [createVariable('PORT')] })
  fill('File content', 'PORT=80')
  expect(lines()).toEqual(['Line 1PORTSkipped: already exists with another value, which is kept. Change it in the list.'])
  fill('Environment', 'production')
  await user.click(screen.getByLabelText('Make all build secrets'))
  await user.click(screen.getByLabelText('Mark all as sensitive'))
  expect(text()).toContain('Make all write-only No one can read the values again, not even you; apps and builds get them. This cannot be undone.')
  await user.click(screen.getByLabelText('Make all write-only'))
  expect(screen.queryByLabelText('Mark all as sensitive')).toBeNull()
  await user.click(button('Add 1 variable'))
  expect(added).toEqual([[{ key: 'PORT', value: '80', environment: 'production', is_sensitive: true, is_write_only: true, is_build_secret: true }]])
})

test('a form without variables adds nothing', () => {
  const { added } = renderImport({ text: '# Ports' })
  fireEvent.submit(screen.getByLabelText('File content').closest('form') ?? document.body)
  expect(added).toEqual([])
})

test('a variable that is being deleted can be imported', () => {
  renderImport({ text: 'A=two', existing: [createVariable('A', { change: 'deleted' })] })
  expect(lines()).toEqual(['Line 1AAdded'])
})

test('a file is read, and its error lasts until the text changes', async () => {
  const { user } = renderImport({ error: 'It is too large.' })
  expect(screen.getByRole('alert').textContent).toBe('It is too large.')
  await user.upload(screen.getByLabelText('.env file'), new File(['A=1'], '.env'))
  await waitFor(() => expect(screen.getByLabelText<HTMLTextAreaElement>('File content').value).toBe('A=1'))
  expect(screen.queryByRole('alert')).toBeNull()
})

test('a file that is too large leaves the text', async () => {
  const { user } = renderImport({ text: 'A=1' })
  await user.upload(screen.getByLabelText('.env file'), new File(['x'.repeat(limits.body_bytes + 1)], 'big.env'))
  await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('“big.env” is too large for a .env file: more than 1 MB.'))
  expect(screen.getByLabelText<HTMLTextAreaElement>('File content').value).toBe('A=1')
  fill('File content', 'A=2')
  expect(screen.queryByRole('alert')).toBeNull()
})

test('a file is read up to the limit', async () => {
  const largest = 'x'.repeat(limits.body_bytes)
  expect(await readEnvFile(new File([largest], '.env'))).toEqual({ text: largest, error: null })
})

test('a folder cannot be read', async () => {
  const folder = new File([], 'src')
  folder.text = () => Promise.reject(new Error('It is a folder.'))
  expect(await readEnvFile(folder)).toEqual({ text: '', error: '“src” cannot be read. Check that it is a file, not a folder.' })
})

const outcomes = (text: string, existing: StagedVariable[] = []) => planImport(text, null, existing).lines.map(({ outcome }) => outcome)

test.each<[string, StagedVariable[], string[]]>([
  ['of another environment', [createVariable('A', { environment: 'preview' })], ['create']],
  ['with another name', [createVariable('B')], ['create']],
  ['with the same value', [createVariable('A')], ['skip']],
  ['that is write-only', [createVariable('A', { is_write_only: true })], ['skip']],
])('an import next to a variable %s', (_, existing, expected) => expect(outcomes('A=one', existing)).toEqual(expected))

test('a write-only value is never called the same', () => {
  const reasons = [false, true].map((is_write_only) => planImport('A=one', null, [createVariable('A', { is_write_only })]).lines[0]?.reason)
  expect(reasons).toEqual(['Already exists with the same value.', 'Already exists with another value, which is kept. Change it in the list.'])
})

test('an import has a limit of variables', () => {
  const text = Array.from({ length: limits.env_vars.max + 1 }, (_, index) => `K${index}=1`).join('\n')
  const { vars, lines: planned } = planImport(text, null, [])
  expect(vars).toHaveLength(limits.env_vars.max)
  expect(planned.at(-1)?.reason).toBe(`At most ${limits.env_vars.max} variables can be added at once. Import the rest afterwards.`)
  expect(planned.at(-2)?.outcome).toBe('create')
})

test('a value that is too long is rejected', () => {
  expect(outcomes(`A=${'x'.repeat(limits.env_var_value + 1)}\nB=${'x'.repeat(limits.env_var_value)}`)).toEqual(['refuse', 'create'])
})
