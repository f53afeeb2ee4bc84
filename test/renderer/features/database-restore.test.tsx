import { screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DumpTarget } from '../../../renderer/api/databases.ts'
import { RestoreDialog } from '../../../renderer/features/database/restore-dialog.tsx'
import { formatDateTime } from '../../../renderer/lib/format.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { database, databaseDump } from '../../../server/contract/databases.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

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
afterEach(() => useUi.setState({ toasts: [] }))

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
