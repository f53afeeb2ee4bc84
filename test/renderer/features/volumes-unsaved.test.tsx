import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { UnsavedFilesCard } from '../../../renderer/features/volumes/unsaved-files-card.tsx'
import { UnsavedFilesNotice } from '../../../renderer/features/volumes/unsaved-files-notice.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { unsavedFiles, type UnsavedFiles } from '../../../server/contract/unsaved-files.ts'
import { volumeSnapshot } from '../../../server/contract/volumes.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

type Answers = NonNullable<PartOptions['answers']>
const past = '2026-01-31T09:00:00.000Z'
const saved = createExample(volumeSnapshot, { id: 'snap_1', bytes: 4000, created_at: past })
const createReport = (own: Partial<UnsavedFiles> = {}) =>
  createExample(unsavedFiles, {
    id: 'unsaved_1',
    service: null,
    path: 'data.db',
    kind: 'database',
    is_file: true,
    files: 1,
    size_bytes: 2000,
    saved: null,
    found_at: past,
    ...own,
  })
const addedVolume = { volume: 'data', path: '/app/data', deployment_id: 'dpl_9' }
const openCard = (reports: UnsavedFiles[] | undefined, answers: Answers = {}) => {
  const onDeployed = vi.fn()
  const data: PartOptions['data'] = reports ? [[queryKeys.unsavedFiles('my-shop'), reports]] : []
  return { ...renderPart(<UnsavedFilesCard slug="my-shop" onDeployed={onDeployed} />, { data, answers }), onDeployed }
}
const button = (name: string) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)

const intro =
  'The app wrote files outside of a volume. The next deployment starts without them. Keeping a path redeploys the project, and its volume starts with these files.'
const single = 'Files that are not kept How volumes work'
test.each<[string, UnsavedFiles[] | undefined, string]>([
  ['loading', undefined, ''],
  ['none', [], ''],
  [
    'a database',
    [createReport()],
    `${single} ${intro} data.db SQLite database · 1 file · 2 kB · found Jan 31, 2026 [Keep this file: data.db] Keep this file [Dismiss data.db] Dismiss`,
  ],
  [
    'a folder of a service, of which an earlier version is saved',
    [createReport({ service: 'web', path: 'uploads', kind: 'uploads', is_file: false, files: 1200, size_bytes: null, saved })],
    `${single} ${intro} uploads · web Uploads or data · 1,200 files · found Jan 31, 2026 · files of an earlier version saved Jan 31, 2026 [Keep this folder: uploads] Keep this folder [Dismiss uploads] Dismiss`,
  ],
  [
    'several',
    [createReport(), createReport({ id: 'unsaved_2', path: 'cache', kind: 'files', is_file: false, files: 2 })],
    `Files that are not kept Keep all ${intro} data.db SQLite database · 1 file · 2 kB · found Jan 31, 2026 [Keep this file: data.db] Keep this file [Dismiss data.db] Dismiss cache Many megabytes of files · 2 files · 2 kB · found Jan 31, 2026 [Keep this folder: cache] Keep this folder [Dismiss cache] Dismiss`,
  ],
])('unsaved files: %s', (_, reports, expected) => expect(openCard(reports).text()).toBe(expected))

test.each<[string | null, object]>([
  [null, { path: 'data.db' }],
  ['web', { path: 'data.db', service: 'web' }],
])('a file of the service %s is kept', async (name, body) => {
  const { sent, user, onDeployed } = openCard([createReport({ service: name })], { addVolume: addedVolume })
  await user.click(button('Keep this file: data.db'))
  expect(sent).toEqual([{ operation: 'addVolume', params: { slug: 'my-shop' }, body }])
  await expect.poll(toasts).toEqual(['done: Keeping data.db.'])
  expect(onDeployed.mock.calls).toEqual([['dpl_9']])
})

test('all unsaved files are kept with one request', async () => {
  const reports = [createReport({ service: 'web' }), createReport({ id: 'unsaved_2', path: 'cache' })]
  const { sent, user, onDeployed } = openCard(reports, { addVolume: addedVolume })
  await user.click(button('Keep all'))
  expect(sent.map(({ body }) => body)).toEqual([{ path: 'data.db', service: 'web', with_unsaved_files: true }])
  await expect.poll(toasts).toEqual(['done: Keeping all paths.'])
  expect(onDeployed.mock.calls).toEqual([['dpl_9']])
})

test('a report is dismissed', async () => {
  const { sent, user } = openCard([createReport()], { dismissUnsavedFiles: new Response(null, { status: 204 }) })
  await user.click(button('Dismiss data.db'))
  expect(sent).toEqual([{ operation: 'dismissUnsavedFiles', params: { slug: 'my-shop', id: 'unsaved_1' } }])
  await expect.poll(toasts).toEqual(['done: Dismissed data.db.'])
})

test.each<[string, RegExp | null, number | null, string | null, object]>([
  ['the earlier version', null, 2000, null, { path: 'data.db', snapshot_id: 'snap_1' }],
  ['the live version', /^Files of the live version \(2 kB\)$/, 2000, 'web', { path: 'data.db', service: 'web' }],
  ['the live version, of an unknown size', /^Files of the live version$/, null, null, { path: 'data.db' }],
])('the files of %s are kept', async (_, choice, size_bytes, name, body) => {
  const { sent, text, user, onDeployed } = openCard([createReport({ saved, size_bytes, service: name })], { addVolume: addedVolume })
  await user.click(button('Keep this file: data.db'))
  expect(sent).toEqual([])
  expect(text()).toMatch(/^Keep data\.db\? The version that wrote .* saved Jan 31, 2026, .* \(4 kB compressed\)/)
  expect(screen.getByLabelText(/^Files of the earlier version/)).toHaveProperty('checked', true)
  if (choice) await user.click(screen.getByLabelText(choice))
  await user.click(button('Keep files'))
  expect(sent.map((request) => request.body)).toEqual([body])
  await expect.poll(() => onDeployed.mock.calls).toEqual([['dpl_9']])
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('why saved files cannot be kept is in the dialog', async () => {
  const { user } = openCard([createReport({ saved })], { addVolume: problemResponse('snapshot_not_found', 'It was deleted.') })
  await user.click(button('Keep this file: data.db'))
  await user.click(button('Keep files'))
  expect((await screen.findByRole('alert')).textContent).toContain('It was deleted.')
  expect(toasts()).toEqual([])
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('the deployment that keeps files is shown until it is dismissed', async () => {
  const { text, user } = renderPart(<UnsavedFilesNotice slug="my-shop" />, {
    data: [
      [queryKeys.unsavedFiles('my-shop'), [createReport()]],
      [queryKeys.deployment('my-shop', 'dpl_9'), createExample(deployment, { id: 'dpl_9', status: 'failed' })],
    ],
    answers: { addVolume: addedVolume },
  })
  expect(text()).not.toContain('View deployment')
  await user.click(button('Keep this file: data.db'))
  await expect.poll(text).toContain('The deployment with the changed volumes failed. The previous version is still live with its files.')
  await user.click(button('Dismiss'))
  expect(text()).not.toContain('View deployment')
})
