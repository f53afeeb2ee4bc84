import { screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type DumpTarget, useDumps } from '../../../renderer/api/databases.ts'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { Dumps } from '../../../renderer/features/database/dumps.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type DatabaseDump, databaseDump } from '../../../server/contract/databases.ts'
import { instanceOperations, user } from '../../../server/contract/instance.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'
import { formatDateTime } from '../../../renderer/lib/format.ts'

const mariadb: DumpTarget = { name: 'mariadb', label: 'MariaDB' }
const shop = createExample(project, { slug: 'shop', name: 'Shop' })
const createDump = (own: Partial<DatabaseDump> = {}) =>
  createExample(databaseDump, {
    id: 'dmp_1',
    project_slug: 'shop',
    service: null,
    name: null,
    reason: 'manual',
    bytes: 2000,
    file: 'shop.sql.gz',
    ...own,
  })
const madeAt = createDump().created_at
interface DumpOptions {
  dumps?: DatabaseDump[]
  service?: DumpTarget
  canRestore?: boolean
  is_owner?: boolean
  requestedAction?: string
  onClosed?: () => void
  answers?: PartOptions['answers']
}
function DumpList({ service, canRestore = true, requestedAction, onClosed }: DumpOptions) {
  const query = useDumps('shop', true, service?.name)
  return (
    <Dumps
      project={shop}
      {...(service && { service })}
      canRestore={canRestore}
      query={query}
      requestedAction={requestedAction ?? null}
      {...(onClosed && { onClosed })}
    />
  )
}
function renderDumps({ dumps, is_owner = true, answers = {}, ...own }: DumpOptions = {}) {
  const session = createExample(instanceOperations.getSession.success.json, { user: createExample(user, { is_instance_owner: is_owner }) })
  const listed: PartOptions['data'] = dumps ? [[queryKeys.dumps('shop', own.service?.name ?? 'postgresql'), dumps]] : []
  return renderPart(<DumpList {...own} />, { data: [[queryKeys.session, session], ...listed], answers })
}
const button = (name: string) => screen.getByRole('button', { name })
const openMenu = async (options: DumpOptions = {}) => {
  const part = renderDumps({ dumps: [createDump()], ...options })
  await part.user.click(button(`Actions for the dump of ${madeAt}`))
  return part
}

beforeEach(() => history.replaceState(null, '', '/app/projects/shop/database'))
afterEach(() => vi.restoreAllMocks())

const actions = 'Import SQL… Create dump…'
const about =
  'No dumps yet. A dump is the whole database as one SQL file, which you can restore here or use elsewhere. One is created automatically before'
test.each<[string, DumpOptions, string]>([
  ['of a database load', {}, `Dumps ${actions} Loading [Dumps]`],
  ['of a missing database load', { canRestore: false }, 'Dumps Loading [Dumps]'],
  ['of a missing service are hidden until they are known', { canRestore: false, service: mariadb }, ''],
  ['of a service load', { service: mariadb }, `Dumps of MariaDB ${actions} Loading [Dumps of MariaDB]`],
  ['of a database without any', { dumps: [] }, `Dumps ${actions} ${about} an import, a restore or a drop. [Dumps]`],
  ['of a service without any', { dumps: [], service: mariadb }, `Dumps of MariaDB ${actions} ${about} an import or a restore. [Dumps of MariaDB]`],
  ['of a missing database without any are hidden', { dumps: [], canRestore: false }, ''],
  ['of a missing service without any are hidden', { dumps: [], canRestore: false, service: mariadb }, ''],
])('dumps %s', (_, options, expected) => expect(renderDumps(options).text()).toBe(expected))

const row = (title: string) => `${title} shop.sql.gz 2 kB Download [Actions for the dump of ${madeAt}]`
test.each<[string, Partial<DatabaseDump>, string]>([
  ['manual', {}, 'Manual Jan 31, 2026'],
  ['before a statement', { reason: 'query' }, 'Before statement Jan 31, 2026'],
  ['manual with a name', { name: 'Before launch' }, 'Before launch Jan 31, 2026'],
  ['before a restore, with a name', { name: 'Good', reason: 'restore' }, 'Good before restore, Jan 31, 2026'],
])('a dump: %s', (_, own, title) => {
  expect(renderDumps({ dumps: [createDump(own)] }).text()).toBe(`Dumps ${actions} [Dumps] ${row(title)}`)
})

test.each<[string, DumpTarget | undefined, string]>([
  ['database', undefined, 'To restore a dump, create a database first.'],
  ['service', mariadb, 'To restore a dump, add MariaDB first.'],
])('the dumps of a missing %s say what to do', (_, service, expected) => {
  const { text } = renderDumps({ dumps: [createDump()], canRestore: false, ...(service && { service }) })
  expect(text()).toMatch(new RegExp(`${expected}$`))
  expect(text()).not.toContain('Import SQL…')
})

test('dumps that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { listDatabaseDumps: problemResponse('project_not_found', 'It is gone.') }
  const { user, text } = renderDumps({ answers })
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  expect(text()).not.toContain('Loading')
  answers.listDatabaseDumps = { dumps: [createDump()] }
  await user.click(button('Try again'))
  expect(await screen.findByText('Manual')).toBeTruthy()
})

test.each<[string, DumpOptions, [string, boolean][]]>([
  [
    'the owner',
    {},
    [
      ['Restore this dump…', true],
      ['Rename…', true],
      ['Delete…', true],
    ],
  ],
  [
    'a member',
    { is_owner: false },
    [
      ['Restore this dump…', true],
      ['Rename…', true],
    ],
  ],
  [
    'the owner without a database',
    { canRestore: false },
    [
      ['Restore this dump…', false],
      ['Rename…', true],
      ['Delete…', true],
    ],
  ],
])('the menu of a dump for %s', async (_, options, expected) => {
  await openMenu(options)
  expect(screen.getAllByRole('menuitem').map((one) => [one.textContent, one.getAttribute('aria-disabled') !== 'true'])).toEqual(expected)
})
const choose = (name: string) => screen.getByRole('menuitem', { name })
const hasClosed = () => waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
const toasts = () => useUi.getState().toasts.map(({ text }) => text)

test.each([
  ['a name', ' Before launch ', { name: 'Before launch' }],
  ['only spaces', ' ', {}],
])('a dump is created with %s', async (_, typed, query) => {
  const fetched = vi.fn()
  const { user, sent, text } = renderDumps({ dumps: [], answers: { dumpDatabase: { dump: createDump() } } })
  const send = fetch
  vi.stubGlobal('fetch', (address: string, init?: RequestInit) => {
    if (init?.method === 'POST') fetched(Object.fromEntries(new URL(address, location.href).searchParams))
    return send(address, init)
  })
  await user.click(button('Create dump…'))
  expect(text()).toContain('Create dump Saves the database as one SQL file. Name (optional) Cancel Create dump [Close]')
  await user.type(screen.getByLabelText('Name (optional)'), typed)
  await user.click(button('Create dump'))
  expect(sent).toEqual([{ operation: 'dumpDatabase', params: { slug: 'shop' } }])
  expect(fetched.mock.calls).toEqual([[query]])
  await hasClosed()
  expect(toasts()).toEqual(['Dump created.'])
})

test('the creation of a dump shows its progress', async () => {
  const { user, text } = renderDumps({ dumps: [], service: mariadb })
  await user.click(button('Create dump…'))
  expect(text()).toContain('Saves MariaDB as one SQL file.')
  expect(text()).not.toContain('Creating the dump')
  await user.click(button('Create dump'))
  expect(text()).toContain('Creating the dump')
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('a dump that cannot be created says why', async () => {
  const { user } = renderDumps({ dumps: [], answers: { dumpDatabase: problemResponse('storage_full', 'The disk is full.') } })
  await user.click(button('Create dump…'))
  await user.click(button('Create dump'))
  expect(await screen.findByText('The disk is full.')).toBeTruthy()
})

test.each<[string, string | null, string, string | null]>([
  ['gets a name', null, ' Good ', 'Good'],
  ['loses its name', 'Old', '{Backspace>3/}', null],
])('a dump %s', async (_, name, typed, expected) => {
  const dump = createDump({ name })
  const { user, sent, text } = await openMenu({ dumps: [dump], answers: { renameDatabaseDump: { dump } } })
  await user.click(choose('Rename…'))
  expect(text()).toContain(`Rename dump The dump from ${formatDateTime(madeAt)}.`)
  expect(button('Rename dump')).toHaveProperty('disabled', true)
  await user.type(screen.getByLabelText('Name (optional)'), typed)
  await user.click(button('Rename dump'))
  expect(sent).toEqual([{ operation: 'renameDatabaseDump', params: { slug: 'shop', id: 'dmp_1' }, body: { name: expected } }])
  await hasClosed()
})

test('a dump that cannot be renamed says why', async () => {
  const { user } = await openMenu({ answers: { renameDatabaseDump: problemResponse('dump_not_found', 'It is gone.') } })
  await user.click(choose('Rename…'))
  await user.type(screen.getByLabelText('Name (optional)'), 'x')
  await user.click(button('Rename dump'))
  expect(await screen.findByText('It is gone.')).toBeTruthy()
})

test('a dump is deleted after a question', async () => {
  const { user, sent, text } = await openMenu({ answers: { deleteDatabaseDump: new Response(null, { status: 204 }) } })
  await user.click(choose('Delete…'))
  expect(text()).toContain(
    `Delete this dump? The dump of shop from ${formatDateTime(madeAt)}, 2 kB, is permanently deleted. Cancel Delete dump [Close]`,
  )
  await user.click(button('Delete dump'))
  expect(sent).toEqual([{ operation: 'deleteDatabaseDump', params: { id: 'dmp_1' } }])
  await hasClosed()
  expect(toasts()).toEqual(['Dump deleted.'])
})

test('a dump that cannot be deleted says why', async () => {
  const { user } = await openMenu({ answers: { deleteDatabaseDump: problemResponse('dump_not_found', 'It is gone.') } })
  await user.click(choose('Delete…'))
  await user.click(button('Delete dump'))
  expect(await screen.findByText('It is gone.')).toBeTruthy()
})
