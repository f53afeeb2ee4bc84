import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import BackupsPage from '../../../renderer/features/instance/backups-page.tsx'
import { CreateBackup } from '../../../renderer/features/instance/create-backup.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type Backup, backup } from '../../../server/contract/maintenance.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const at = '2026-01-31T12:00:00.000Z'
const createBackupOf = (own: Partial<Backup> = {}) =>
  createExample(backup, { name: 'a.tar.gz', kind: 'full', bytes: 2e9, path: '/data/a.tar.gz', created_at: at, ...own })
const session = (encryption = 'file_key', is_instance_owner = true) => ({
  user: { is_instance_owner },
  instance: { version: '1.0.0', encryption, runtime: { name: 'docker' } },
})
const disk = { kinds: [], free_bytes: 9e9, total_bytes: 6e9, data_dir: '/my data' }
const renderPage = (backups: Backup[], answers = {}) =>
  renderPart(<BackupsPage />, {
    data: [
      [queryKeys.session, session()],
      [queryKeys.disk, disk],
      [queryKeys.allDumps, []],
      [queryKeys.backups, { backups, recovered: null }],
    ],
    answers,
  })
const section = (name: string) => screen.getByRole('region', { name }).textContent
const click = (user: { click(element: Element): Promise<void> }, name: string) => user.click(screen.getByRole('button', { name }))
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => [kind, text])

test('a page without backups', () => {
  const { text } = renderPage([])
  expect(text()).toContain('Backups The whole instance in one file No backups yet. Create one and keep it on another machine.')
  expect(text()).toContain('No copies yet. One is created every hour; the last seven are kept.')
  expect(text()).toContain('npx homeport restore BACKUP-FILE --data')
})

test('a page with backups and copies lists them apart', () => {
  const { text } = renderPage([
    createBackupOf(),
    createBackupOf({ name: 'h.db', kind: 'hourly', path: '/data/h.db' }),
    createBackupOf({ name: 'm.db', kind: 'before_migration', path: '/data/m.db' }),
  ])
  expect(section('Backups')).toMatch(/^BackupsThe whole instance in one fileJan 31, 2026, [\d:]+ Jan 31, 2026\/data\/a\.tar\.gz2\.0 GBDownload$/)
  expect(section('Automatic copies')).toMatch(
    /Hourly copy Jan 31, 2026\/data\/h\.db2\.0 GBDownloadBefore an update Jan 31, 2026\/data\/m\.db2\.0 GBDownload$/,
  )
  expect(text()).toContain('npx homeport restore /data/a.tar.gz --data')
  expect(text()).not.toContain('No backups yet')
  expect(text()).not.toContain('No copies yet')
})

const loaded = new Map<readonly string[], unknown>([
  [queryKeys.backups, { backups: [], recovered: null }],
  [queryKeys.disk, disk],
  [queryKeys.allDumps, []],
])
test.each(['backups', 'disk', 'every-dump'])('the page waits for “%s”', (missing) => {
  const others = [...loaded].filter(([[key]]) => key !== missing)
  const { text } = renderPart(<BackupsPage />, { data: [[queryKeys.session, session()], ...others] })
  expect(text()).toContain('Loading')
  expect(text()).not.toContain('Create backup')
})

test('backups that cannot be loaded leave the rest of the page', async () => {
  const { text } = renderPart(<BackupsPage />, {
    data: [
      [queryKeys.session, session()],
      [queryKeys.disk, disk],
      [queryKeys.allDumps, []],
    ],
    answers: { listBackups: problemResponse('forbidden', 'Not for you.') },
  })
  await waitFor(() => expect(text()).toContain('Not for you. forbidden'))
  expect(text()).toContain('Create backup')
  expect(text()).not.toContain('No backups yet')
})

test.each<[Backup['kind'], string]>([
  ['full', 'Delete this backup?'],
  ['hourly', 'Delete this copy?'],
])('a backup of the kind %s is deleted after a question', async (kind, question) => {
  const { user, sent, text } = renderPage([createBackupOf({ kind })], { deleteBackup: new Response(null, { status: 204 }) })
  await click(user, 'Delete a.tar.gz…')
  expect(text()).toContain(`${question} a.tar.gz of Jan 31, 2026, `)
  expect(text()).toContain(', 2.0 GB, is permanently deleted. Copies that you downloaded are not affected.')
  await click(user, 'Delete')
  expect(sent).toEqual([{ operation: 'deleteBackup', params: { name: 'a.tar.gz' } }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(toasts()).toEqual([['done', 'Backup deleted.']])
})

test('a backup that cannot be deleted says why', async () => {
  const { user, text } = renderPage([createBackupOf()], { deleteBackup: problemResponse('backup_not_found', 'It is gone.') })
  await click(user, 'Delete a.tar.gz…')
  await click(user, 'Delete')
  await waitFor(() => expect(text()).toContain('It is gone. backup_not_found'))
  expect(toasts()).toEqual([])
})

test('a backup that is running shows its progress and cannot be started twice', async () => {
  const { user, sent, text } = renderPart(<CreateBackup />)
  expect(text()).not.toContain('Creating the backup')
  await click(user, 'Create backup')
  await waitFor(() => expect(text()).toContain('Creating the backup; you can leave this page'))
  await click(user, 'Create backup')
  expect(sent).toEqual([{ operation: 'createBackup', params: {} }])
})

test.each<[string[], string]>([
  [[], 'Create backup'],
  [['Images are left out.', 'One file is unreadable.'], 'Create backup Not in a.tar.gz: Images are left out. One file is unreadable.'],
])('a backup that left out %j', async (left_out, end) => {
  const { user, text } = renderPart(<CreateBackup />, { answers: { createBackup: { backup: createBackupOf(), left_out } } })
  await click(user, 'Create backup')
  await waitFor(() => expect(toasts()).toEqual([['done', 'Backup created: 2.0 GB.']]))
  await waitFor(() => expect(text().endsWith(`on another machine. ${end}`)).toBe(true))
})

test('a backup that fails says why', async () => {
  const { user, text } = renderPart(<CreateBackup />, { answers: { createBackup: problemResponse('storage_full', 'The disk is full.') } })
  await click(user, 'Create backup')
  await waitFor(() => expect(text()).toContain('The disk is full. storage_full'))
  expect(toasts()).toEqual([])
})
