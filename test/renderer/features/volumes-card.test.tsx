import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { VolumeCard } from '../../../renderer/features/volumes/volume-card.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { volume, type Volume, volumeSnapshot, type VolumeSnapshot } from '../../../server/contract/volumes.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

type Answers = NonNullable<PartOptions['answers']>
const past = '2026-01-31T09:00:00.000Z'
const createSnapshot = (own: Partial<VolumeSnapshot> = {}) =>
  createExample(volumeSnapshot, { id: 'snap_1', bytes: 4000, reason: 'manual', created_at: past, ...own })
const web = { service: 'web', path: '/app/data', is_read_only: false }
const createVolume = (own: Partial<Volume> = {}) =>
  createExample(volume, { name: 'data', size_bytes: 2000, used_by: [web], snapshots: [], added: null, ...own })

function openCard(own: Partial<Volume> = {}, { branch = null, answers = {} }: { branch?: string | null; answers?: Answers } = {}) {
  const onDeployed = vi.fn()
  const part = renderPart(<VolumeCard slug="my-shop" branch={branch} volume={createVolume(own)} onDeployed={onDeployed} />, { answers })
  return { ...part, onDeployed, addresses: recordAddresses() }
}
/** The paths and queries of the requests from now on. */
function recordAddresses(): string[] {
  const addresses: string[] = []
  const send = globalThis.fetch
  vi.stubGlobal('fetch', (address: string, options?: RequestInit) => {
    addresses.push(address)
    return send(address, options)
  })
  return addresses
}
const button = (name: string | RegExp) => screen.getByRole('button', { name })
const confirm = (name = 'data') => {
  fireEvent.change(screen.getByLabelText('Type data to confirm'), { target: { value: name } })
  fireEvent.submit(document.querySelector('[role=dialog] form') ?? document.body)
}
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)

afterEach(() => vi.restoreAllMocks())

const head = '[Browse data] Browse [Take snapshot of data] Take snapshot [Actions for data]'
test.each<[string, Partial<Volume>, string]>([
  ['in use', {}, `data 2 kB ${head} web at /app/data`],
  [
    'read-only and added',
    { size_bytes: null, used_by: [{ ...web, is_read_only: true }], added: { service: null, path: '/app/data' } },
    `data Size unknown ${head} web at /app/data · read-only Added to the project, without a configuration file.`,
  ],
  ['not in use', { used_by: [] }, `data 2 kB ${head} The live version does not use it.`],
  ['not in use, of an unknown size', { used_by: [], size_bytes: null }, `data Size unknown ${head} The live version does not use it.`],
  ['in use and empty', { size_bytes: 0 }, `data 0 B ${head} web at /app/data`],
  [
    'deleted, with a snapshot',
    { used_by: [], size_bytes: 0, snapshots: [createSnapshot({ reason: 'before_delete' })] },
    `data Deleted Restore a snapshot to get its files back. [Snapshots of data] Jan 31, 2026 · Before the volume was deleted 4 kB [Download the snapshot of ${past}] Download [Actions for the snapshot of ${past}]`,
  ],
])('a volume: %s', (_, own, expected) => expect(openCard(own).text()).toBe(expected))

test.each<[string, Partial<Volume>, string | null, string[], boolean]>([
  ['in use', {}, null, ['Download', 'Upload archive…', 'In use, cannot be deleted'], true],
  ['added', { added: { service: null, path: 'data' } }, null, ['Download', 'Upload archive…', 'Detach…', 'In use, cannot be deleted'], true],
  ['added, in a preview', { added: { service: null, path: 'data' } }, 'docs', ['Download', 'Upload archive…', 'In use, cannot be deleted'], true],
  ['not in use', { used_by: [] }, null, ['Download', 'Upload archive…', 'Delete…'], false],
])('the actions of a volume: %s', async (_, own, branch, actions, isDisabled) => {
  const { user } = openCard(own, { branch })
  await user.click(button('Actions for data'))
  const items = screen.getAllByRole('menuitem')
  expect(items.map(({ textContent }) => textContent)).toEqual(actions)
  expect(items.at(-1)?.getAttribute('aria-disabled') === 'true').toBe(isDisabled)
})

test.each<[string | null, string]>([
  [null, ''],
  ['docs', '?branch=docs'],
])('requests about a volume of the branch %s', async (branch, query) => {
  const snapshots = [createSnapshot()]
  const { sent, addresses, user } = openCard(
    { used_by: [], snapshots },
    { branch, answers: { createVolumeSnapshot: { snapshot: createSnapshot() } } },
  )
  await user.click(button('Take snapshot of data'))
  expect(sent).toEqual([{ operation: 'createVolumeSnapshot', params: { slug: 'my-shop', name: 'data' } }])
  await expect.poll(toasts).toEqual(['done: Took a snapshot of data.'])
  await user.click(button('Actions for data'))
  await user.click(screen.getByRole('menuitem', { name: 'Delete…' }))
  confirm()
  await expect.poll(() => addresses).toHaveLength(2)
  const path = '/instance/projects/my-shop/volumes/data'
  expect(addresses).toEqual([`${path}/snapshots${query}`, `${path}${query}`])
})

test('a volume is deleted once its name is typed', async () => {
  const { sent, text, user } = openCard({ used_by: [] }, { answers: { deleteVolume: { before: createSnapshot() } } })
  await user.click(button('Actions for data'))
  await user.click(screen.getByRole('menuitem', { name: 'Delete…' }))
  expect(text()).toContain('Delete data? The live version does not use this volume. All its files are deleted.')
  confirm('dat')
  expect(sent).toEqual([])
  confirm()
  await expect.poll(toasts).toEqual(['done: Deleted data. A snapshot of its files was kept.'])
  expect(sent).toEqual([{ operation: 'deleteVolume', params: { slug: 'my-shop', name: 'data' } }])
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('the dialog stays open while a volume is being deleted, and until then it can be closed', async () => {
  const { text, user } = openCard({ used_by: [] })
  const open = async () => {
    await user.click(button('Actions for data'))
    await user.click(screen.getByRole('menuitem', { name: 'Delete…' }))
  }
  await open()
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
  await open()
  expect(text()).not.toContain('Taking a snapshot')
  confirm()
  await expect.poll(text).toContain('Taking a snapshot, then deleting the volume')
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).not.toBeNull()
})

test('an added volume is detached', async () => {
  const added = { service: null, path: 'data' }
  const { sent, text, user, onDeployed } = openCard({ added }, { answers: { detachVolume: { deployment_id: 'dpl_9' } } })
  await user.click(button('Actions for data'))
  await user.click(screen.getByRole('menuitem', { name: 'Detach…' }))
  expect(text()).toMatch(/^Detach data\? The project is redeployed without this volume\./)
  await user.click(button('Detach volume'))
  expect(sent).toEqual([{ operation: 'detachVolume', params: { slug: 'my-shop', name: 'data' } }])
  await expect.poll(toasts).toEqual(['done: Detached data.'])
  expect(onDeployed.mock.calls).toEqual([['dpl_9']])
  expect(screen.queryByRole('dialog')).toBeNull()
})

const openSnapshot = async (action: string, ...options: Parameters<typeof openCard>) => {
  const part = openCard({ snapshots: [createSnapshot()], ...options[0] }, options[1])
  await part.user.click(button(/^Actions for the snapshot/))
  await part.user.click(screen.getByRole('menuitem', { name: action }))
  return part
}

test.each<[string, Partial<Volume>, VolumeSnapshot | null, boolean, string]>([
  ['a volume in use', {}, createSnapshot(), true, 'done: Restored data. The previous files are in a snapshot.'],
  ['a volume that is not in use', { used_by: [] }, null, false, 'done: Restored data.'],
])('%s is restored', async (_, own, before, stops, toast) => {
  const { sent, text } = await openSnapshot('Restore…', own, { answers: { restoreVolume: { before } } })
  expect(text()).toMatch(/Restore data\? Replaces all files of the volume with the snapshot of Jan 31, 2026, .*, 4 kB\. /)
  expect(text().includes('The services stop during this, and requests wait.')).toBe(stops)
  confirm()
  await expect.poll(toasts).toEqual([toast])
  expect(sent).toEqual([{ operation: 'restoreVolume', params: { slug: 'my-shop', name: 'data' }, body: { snapshot_id: 'snap_1' } }])
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('a snapshot of a preview that cannot be restored', async () => {
  const answers = { restoreVolume: problemResponse('snapshot_not_found', 'It was deleted.') }
  const { addresses, text, user } = await openSnapshot('Restore…', {}, { branch: 'docs', answers })
  confirm()
  expect((await screen.findByRole('alert')).textContent).toContain('It was deleted.')
  expect(text()).not.toContain('Saving the current files')
  expect(addresses).toEqual(['/instance/projects/my-shop/volumes/data/restore?branch=docs'])
  expect(toasts()).toEqual([])
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('a snapshot is deleted', async () => {
  const { sent, text } = await openSnapshot('Delete…', {}, { answers: { deleteVolumeSnapshot: new Response(null, { status: 204 }) } })
  expect(text()).toMatch(/Delete this snapshot\? The snapshot of data from Jan 31, 2026, .*, 4 kB, is permanently deleted\./)
  confirm()
  await expect.poll(toasts).toEqual(['done: Snapshot deleted.'])
  expect(sent).toEqual([{ operation: 'deleteVolumeSnapshot', params: { slug: 'my-shop', name: 'data', id: 'snap_1' } }])
})

test('a volume is browsed', async () => {
  const { user } = openCard()
  await user.click(button('Browse data'))
  expect(`${location.pathname}${location.search}`).toBe('/projects/my-shop/volumes?volume=data')
})
