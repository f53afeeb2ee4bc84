import { screen, waitFor, act } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import type { DumpTarget } from '../../../renderer/api/databases.ts'
import { RestoreDialog } from '../../../renderer/features/database/restore-dialog.tsx'
import { formatDateTime } from '../../../renderer/lib/format.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { database, databaseDump } from '../../../server/contract/databases.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'
import { ImportDatabaseDialog } from '../../../renderer/features/database/import-dialog.tsx'

const mariadb: DumpTarget = { name: 'mariadb', label: 'MariaDB' }
const shop = createExample(project, { slug: 'shop', name: 'Shop' })
const dump = createExample(databaseDump, { id: 'dmp_1', service: null, name: null })
const restored = { database: createExample(database), dump }
const button = (name: string) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ text }) => text)

/** An upload that the test moves on. */
class FakeUpload extends EventTarget {
  static latest: FakeUpload | undefined
  readonly upload = new EventTarget()
  readonly headers: Record<string, string> = {}
  address = ''
  responseURL = ''
  status = 0
  responseText = ''
  body: unknown
  open(_method: string, address: string): void {
    FakeUpload.latest = this
    this.address = address
    this.responseURL = new URL(address, location.href).href
  }
  setRequestHeader(name: string, value: string): void {
    this.headers[name] = value
  }
  getResponseHeader(): null {
    return null
  }
  send(body: unknown): void {
    this.body = body
  }
  abort(): void {
    this.dispatchEvent(new Event('abort'))
  }
  progress(loaded: number): void {
    this.upload.dispatchEvent(Object.assign(new Event('progress'), { loaded }))
  }
  answer(status: number, body: object): void {
    this.status = status
    this.responseText = JSON.stringify(body)
    this.dispatchEvent(new Event('load'))
  }
}
beforeEach(() => {
  FakeUpload.latest = undefined
})

test.each<[string, DumpTarget | undefined, string | null, string, string]>([
  ['a dump', undefined, null, 'the database with the dump from', 'Restore database'],
  ['a dump with a name', undefined, 'Good', 'the database with the dump “Good” from', 'Restore database'],
  ['a dump of a service', mariadb, null, 'MariaDB with the dump from', 'Restore MariaDB'],
])('%s is restored after the name of the project is typed', async (_, service, name, what, action) => {
  const onOpenChange = vi.fn()
  const { user, sent, text } = renderPart(<RestoreDialog project={shop} service={service} dump={{ ...dump, name }} onOpenChange={onOpenChange} />, {
    answers: { restoreDatabase: restored },
  })
  expect(text()).toBe(
    `Restore this dump? Replaces all data in ${what} ${formatDateTime(dump.created_at)}. The current data is dumped first. If the restore fails, the database stays unchanged. Type shop to confirm Cancel ${action} [Close]`,
  )
  await user.type(screen.getByLabelText('Type shop to confirm'), 'shop')
  await user.click(button(action))
  expect(sent).toEqual([{ operation: 'restoreDatabase', params: { slug: 'shop', id: 'dmp_1' } }])
  await waitFor(() => expect(onOpenChange.mock.calls).toHaveLength(1))
  expect(toasts()).toEqual([`${service ? 'MariaDB' : 'Database'} restored. The previous data is saved in a dump.`])
})

test('a restore in progress cannot be closed', async () => {
  const onOpenChange = vi.fn()
  const { user, text } = renderPart(<RestoreDialog project={shop} service={undefined} dump={dump} onOpenChange={onOpenChange} />)
  await user.type(screen.getByLabelText('Type shop to confirm'), 'shop')
  await user.click(button('Restore database'))
  expect(text()).toContain('Saving a dump, then restoring')
  await user.click(button('Cancel'))
  expect(onOpenChange.mock.calls).toEqual([])
})

test('a restore that fails says why and can be closed', async () => {
  const onOpenChange = vi.fn()
  const { user, text } = renderPart(<RestoreDialog project={shop} service={undefined} dump={dump} onOpenChange={onOpenChange} />, {
    answers: { restoreDatabase: problemResponse('restore_failed', 'Line 3 is invalid.') },
  })
  await user.type(screen.getByLabelText('Type shop to confirm'), 'shop')
  await user.click(button('Restore database'))
  expect(await screen.findByText('Line 3 is invalid.')).toBeTruthy()
  expect(text()).not.toContain('Saving a dump')
  await user.click(button('Cancel'))
  expect(onOpenChange.mock.calls).toHaveLength(1)
})
const uploaded = (): FakeUpload => {
  if (!FakeUpload.latest) throw new Error('Nothing was uploaded.')
  return FakeUpload.latest
}

function renderImport(service?: DumpTarget) {
  vi.stubGlobal('XMLHttpRequest', FakeUpload)
  const onOpenChange = vi.fn()
  const part = renderPart(<ImportDatabaseDialog project={shop} service={service} onOpenChange={onOpenChange} />)
  return { ...part, onOpenChange }
}
const sqlFile = (text = 'SELECT 1', name = 'shop.sql') => new File([text], name)
const fileField = () => screen.getByLabelText('SQL file')
const startImport = async (service?: DumpTarget) => {
  const part = renderImport(service)
  await part.user.upload(fileField(), sqlFile())
  await part.user.type(screen.getByLabelText('Type shop to confirm'), 'shop')
  const submit = button(service ? 'Replace data in MariaDB' : 'Replace database')
  await waitFor(() => expect(submit).toHaveProperty('disabled', false))
  await part.user.click(submit)
  return part
}

const about = 'The current data is dumped first. If any statement fails, the database stays unchanged. Drop a file here or choose one.'
test.each<[string, DumpTarget | undefined, string]>([
  [
    'the database',
    undefined,
    `the database. ${about} A .sql or .sql.gz file from pg_dump, up to 4 GiB. Choose file… Type shop to confirm Cancel Replace database`,
  ],
  [
    'a service',
    mariadb,
    `MariaDB. ${about} A .sql or .sql.gz file from mariadb-dump, up to 4 GiB. Choose file… Type shop to confirm Cancel Replace data in MariaDB`,
  ],
])('an import into %s says what it replaces', (_, service, expected) => {
  const { text } = renderImport(service)
  expect(text().replace('[SQL file] ', '')).toBe(`Import SQL file Replaces all data in ${expected} [Close]`)
})

test('an import needs a file and the name of the project', async () => {
  const { user, text } = renderImport()
  const submit = button('Replace database')
  expect(submit).toHaveProperty('disabled', true)
  await user.type(screen.getByLabelText('Type shop to confirm'), 'shop')
  expect(submit).toHaveProperty('disabled', true)
  await user.upload(fileField(), sqlFile())
  await waitFor(() => expect(submit).toHaveProperty('disabled', false))
  expect(text()).toContain('shop.sql 8 B A .sql')
  await user.type(screen.getByLabelText('Type shop to confirm'), 's')
  expect(submit).toHaveProperty('disabled', true)
})

test.each<[string, File[], DumpTarget | undefined, string]>([
  ['several files', [sqlFile(), sqlFile()], undefined, 'Choose one file at a time.'],
  ['an empty file', [sqlFile('')], undefined, '“shop.sql” is empty.'],
  ['a dump of PostgreSQL for MariaDB', [sqlFile('PGDMP')], mariadb, '“shop.sql” is a dump of PostgreSQL.'],
])('%s cannot be imported', async (_, files, service, expected) => {
  const { user } = renderImport(service)
  fileField().setAttribute('multiple', '')
  await user.upload(fileField(), files)
  expect((await screen.findByRole('alert')).textContent).toBe(expected)
})

test.each<[string, DumpTarget | undefined, string]>([
  ['the database', undefined, '/instance/projects/shop/database/import'],
  ['a service', mariadb, '/instance/projects/shop/database/import?service=mariadb'],
])('an import into %s shows its progress', async (_, service, address) => {
  const { text, onOpenChange } = await startImport(service)
  expect(uploaded().address).toBe(address)
  expect(uploaded().headers['content-type']).toBe('application/sql')
  expect(text()).toContain('Uploading shop.sql0 B of 8 B (0 %)')
  act(() => uploaded().progress(4))
  expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('50')
  act(() => uploaded().progress(8))
  expect(text()).toContain('Saving a dump, then running the file')
  expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBeNull()
  await act(async () => uploaded().answer(200, restored))
  await waitFor(() => expect(onOpenChange.mock.calls).toHaveLength(1))
  expect(toasts()).toEqual(['Imported. The previous data is saved in a dump.'])
})

test('only the button cancels a running upload', async () => {
  const { user, text, onOpenChange } = await startImport()
  expect(fileField()).toBeTruthy()
  expect(screen.getByLabelText('Type shop to confirm')).toHaveProperty('disabled', true)
  await user.keyboard('{Escape}')
  expect(text()).toContain('Uploading shop.sql')
  await user.click(button('Cancel'))
  await waitFor(() => expect(text()).not.toContain('Uploading'))
  expect(onOpenChange.mock.calls).toEqual([])
  await user.click(button('Cancel'))
  expect(onOpenChange.mock.calls).toHaveLength(1)
})

test('an import that fails says why', async () => {
  const { onOpenChange } = await startImport()
  const problem = { error: 'restore_failed', message: 'Line 3 is invalid.', request_id: 'req_1' }
  await act(async () => uploaded().answer(422, problem))
  expect(await screen.findByText('Line 3 is invalid.')).toBeTruthy()
  expect(onOpenChange.mock.calls).toEqual([])
})
