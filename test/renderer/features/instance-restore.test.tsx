import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { AllDumps } from '../../../renderer/features/instance/all-dumps.tsx'
import { RecoveryNotice } from '../../../renderer/features/instance/recovery-notice.tsx'
import { RestoreInstructions } from '../../../renderer/features/instance/restore-instructions.tsx'
import { type DatabaseDump, databaseDump } from '../../../server/contract/databases.ts'
import { type Backup, backup } from '../../../server/contract/maintenance.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const at = '2026-01-31T12:00:00.000Z'
const createBackupOf = (own: Partial<Backup> = {}) =>
  createExample(backup, { name: 'a.tar.gz', kind: 'full', bytes: 2e9, path: '/data/a.tar.gz', created_at: at, ...own })
const createDump = (own: Partial<DatabaseDump> = {}) =>
  createExample(databaseDump, {
    id: 'dump_1',
    project_slug: 'shop',
    service: null,
    name: null,
    reason: 'drop',
    bytes: 2e6,
    file: 'shop.sql.gz',
    created_at: at,
    ...own,
  })
const session = (encryption = 'file_key', is_instance_owner = true) => ({
  user: { is_instance_owner },
  instance: { version: '1.0.0', encryption, runtime: { name: 'docker' } },
})
const disk = { kinds: [], free_bytes: 9e9, total_bytes: 6e9, data_dir: '/my data' }
const section = (name: string) => screen.getByRole('region', { name }).textContent
const click = (user: { click(element: Element): Promise<void> }, name: string) => user.click(screen.getByRole('button', { name }))

const key = { file_key: '/data/master.key', keychain: '/data/master.key.sealed' }
test.each<[string, object | null, string | undefined, string]>([
  ['of a file', disk, '/a/b.gz', "npx homeport restore /a/b.gz --data NEW-FOLDER --key '/my data/master.key'"],
  ['with a quote', { ...disk, data_dir: '/data' }, "/it's.gz", `npx homeport restore '/it'\\''s.gz' --data NEW-FOLDER --key ${key.file_key}`],
  ['without a backup', { ...disk, data_dir: '/data' }, undefined, `npx homeport restore BACKUP-FILE --data NEW-FOLDER --key ${key.file_key}`],
  ['without a known folder', null, undefined, 'npx homeport restore BACKUP-FILE --data NEW-FOLDER --key KEY-FILE'],
])('the command to restore %s', (_, usage, path, expected) => {
  const newest = path === undefined ? undefined : createBackupOf({ path })
  const { text } = renderPart(<RestoreInstructions newest={newest} />, {
    data: [[queryKeys.session, session()], ...(usage ? [[queryKeys.disk, usage] satisfies [readonly string[], unknown]] : [])],
  })
  expect(screen.getByRole('region', { name: 'Restore a backup' }).querySelector('.command')?.textContent).toBe(expected)
  expect(text().includes('[Copy path of the master key]')).toBe(usage !== null)
})

test.each([
  [
    'file_key',
    key.file_key,
    'It is stored in this file, unless HOMEPORT_MASTER_KEY_FILE names another. Keep a copy elsewhere, separate from the backups.',
  ],
  [
    'keychain',
    key.keychain,
    'It is stored in this file, which only this machine’s keychain can decrypt: on another machine, a backup is restored without its secrets.',
  ],
])('a master key in the %s', (encryption, file, expected) => {
  renderPart(<RestoreInstructions newest={undefined} />, {
    data: [
      [queryKeys.session, session(encryption)],
      [queryKeys.disk, { ...disk, data_dir: '/data' }],
    ],
  })
  expect(section('Not included')).toBe(
    `Not includedThe master key. Without it, no one can decrypt the variables and passwords in a backup. ${expected}${file}`,
  )
})

const recovered = { at, copied_at: at, damaged_file: '/data/bad.db', message: 'The file `a.db` was damaged.' }
test.each<[string, boolean, object | null, string]>([
  ['a copy that was restored', true, recovered, 'The file a.db was damaged. Detected Jan 31, 2026. /data/bad.db [Copy path of the damaged file]'],
  ['one whose damaged file is gone', true, { ...recovered, damaged_file: null }, 'The file a.db was damaged. Detected Jan 31, 2026.'],
  ['nothing', true, null, ''],
])('the notice about %s', (_, isOwner, value, expected) => {
  const { text } = renderPart(<RecoveryNotice />, {
    data: [
      [queryKeys.session, session('file_key', isOwner)],
      [queryKeys.backups, { backups: [], recovered: value }],
    ],
  })
  expect(text()).toBe(expected)
})

test.each<[string, Partial<DatabaseDump>, string]>([
  ['before a drop', {}, 'shop before drop, Jan 31, 2026'],
  ['with a name of a service', { service: 'mariadb', name: 'Before May' }, 'shop MariaDB, Before May, Jan 31, 2026'],
])('a dump %s', (_, own, expected) => {
  const { text } = renderPart(<AllDumps />, { data: [[queryKeys.allDumps, [createDump(own)]]] })
  expect(text()).toBe(
    `Database dumps Kept when a database or its project is deleted [Database dumps] ${expected} shop.sql.gz 2.0 MB [Download dump of shop] Download [Delete dump of shop…]`,
  )
})

test('dumps that cannot be loaded are tried again', async () => {
  const answers: { listEveryDatabaseDump: Response } = { listEveryDatabaseDump: problemResponse('forbidden', 'Not for you.') }
  const { user, text } = renderPart(<AllDumps />, { answers })
  expect(text()).not.toContain('No dumps yet')
  await waitFor(() => expect(text()).toContain('Not for you. forbidden'))
  expect(text()).not.toContain('No dumps yet')
  answers.listEveryDatabaseDump = Response.json({ dumps: [] })
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(text()).toContain('No dumps yet'))
})

test('a page without dumps says how to create one', () => {
  expect(renderPart(<AllDumps />, { data: [[queryKeys.allDumps, []]] }).text()).toContain(
    'No dumps yet. Create them on the Database page of a project.',
  )
})

test('a dump is deleted after a question', async () => {
  const { user, sent } = renderPart(<AllDumps />, { data: [[queryKeys.allDumps, [createDump()]]] })
  await click(user, 'Delete dump of shop…')
  await click(user, 'Delete dump')
  expect(sent.map(({ params }) => params)).toEqual([{ id: 'dump_1' }])
  await click(user, 'Cancel')
  expect(screen.queryByRole('dialog')).toBeNull()
})
