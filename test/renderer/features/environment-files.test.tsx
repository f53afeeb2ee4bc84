import { fireEvent, screen, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import EnvironmentPage from '../../../renderer/features/environment/page.tsx'
import { type ProjectEnvVar, projectEnvVar } from '../../../server/contract/env-vars.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createVariable = (key: string, own: Partial<ProjectEnvVar> = {}) =>
  createExample(projectEnvVar, { id: `env_${key}`, key, value: key.toLowerCase(), environment: null, ...own })
const renderPage = (variables: ProjectEnvVar[]) =>
  renderPart(<EnvironmentPage slug="shop" />, {
    data: [
      [queryKeys.project('shop'), createExample(project, { slug: 'shop', name: 'Shop' })],
      [queryKeys.envVars('shop'), variables],
    ],
  })
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const paste = (text: string, target: Element = document.body) => fireEvent.paste(target, { clipboardData: { getData: () => text } })

beforeEach(() => {
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue()
})
afterEach(() => vi.restoreAllMocks())

test.each([
  ['?do=add&key=PORT', 'Add variable', 'PORT'],
  ['?do=import', 'Import .env file', ''],
])('the address %s opens a dialog, and closing it removes the address', async (search, title, value) => {
  history.replaceState(null, '', `/app/${search}`)
  const { user } = renderPage([createVariable('A')])
  const dialog = within(screen.getByRole('dialog'))
  expect(dialog.getByRole('heading').textContent).toBe(title)
  expect(dialog.getAllByRole<HTMLInputElement>('textbox')[0]?.value).toBe(value)
  await user.click(dialog.getByRole('button', { name: 'Cancel' }))
  expect([screen.queryByRole('dialog'), location.search]).toEqual([null, ''])
})

test('the buttons open the dialogs', async () => {
  const { user } = renderPage([])
  await user.click(button('Add variable'))
  expect(screen.getByRole('dialog', { name: 'Add variable' })).toBeTruthy()
  await user.click(button('Cancel'))
  await user.click(button('Import .env…'))
  expect(screen.getByRole('dialog', { name: 'Import .env file' })).toBeTruthy()
})

test('a pasted .env file opens the import, but other text and text for a field do not', () => {
  renderPage([createVariable('A')])
  paste('Hello')
  paste('= 1')
  paste('B=1', screen.getByLabelText('Search variables'))
  expect(screen.queryByRole('dialog')).toBeNull()
  paste('B=1\nC=2')
  expect(screen.getByLabelText<HTMLTextAreaElement>('File content').value).toBe('B=1\nC=2')
  paste('D=3')
  expect(screen.getByLabelText<HTMLTextAreaElement>('File content').value).toBe('B=1\nC=2')
})

const unwritable = 'it\'s `a` "b"\n'
test.each<[string, ProjectEnvVar[], string, string | null]>([
  ['all values', [createVariable('A')], 'A=a\n', null],
  [
    'one that has no form',
    [createVariable('A', { value: unwritable })],
    '# A has a value that this format cannot represent.\n',
    'Downloaded without A, because the .env format cannot represent its value. The file has a comment in its place. Dismiss',
  ],
  [
    'two that have no form',
    ['A', 'B'].map((key) => createVariable(key, { value: unwritable })),
    '# A has a value that this format cannot represent.\n# B has a value that this format cannot represent.\n',
    'Downloaded without A, B, because the .env format cannot represent their values. The file has a comment in their place. Dismiss',
  ],
  [
    'one that is write-only',
    [createVariable('A', { is_write_only: true }), createVariable('B')],
    'B=b\n',
    'Downloaded without A, because it is write-only. Dismiss',
  ],
  [
    'two that are write-only',
    ['A', 'B'].map((key) => createVariable(key, { is_write_only: true })),
    '',
    'Downloaded without A, B, because they are write-only. Dismiss',
  ],
])('a download with %s', async (_, variables, expected, notice) => {
  const save = vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:1')
  const { user, text } = renderPage(variables)
  await user.click(button('Download'))
  await user.click(screen.getByRole('menuitem', { name: 'Production variables (.env)' }))
  const file = save.mock.lastCall?.[0]
  expect(file instanceof Blob && (await file.text())).toBe(expected)
  expect(text().startsWith('Downloaded')).toBe(notice !== null)
  if (notice === null) return
  expect(text().slice(0, notice.length)).toBe(notice)
  await user.click(button('Dismiss'))
  expect(text()).not.toContain('Downloaded')
})

test('a download for previews has their values', async () => {
  const save = vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:1')
  const { user } = renderPage([
    createVariable('A', { environment: 'production' }),
    createVariable('B'),
    createVariable('B', { id: 'b2', value: 'own', environment: 'preview' }),
  ])
  await user.click(button('Download'))
  await user.click(screen.getByRole('menuitem', { name: 'Preview variables (.env)' }))
  const file = save.mock.lastCall?.[0]
  expect(file instanceof Blob && (await file.text())).toBe('B=own\n')
})
