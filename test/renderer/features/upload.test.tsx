import { createEvent, fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { DropZone } from '../../../renderer/features/upload/drop-zone.tsx'
import { UploadCard } from '../../../renderer/features/upload/upload-card.tsx'
import { UploadArchiveDialog } from '../../../renderer/features/upload/upload-dialog.tsx'
import { usePreventStrayDrops } from '../../../renderer/features/upload/use-prevent-stray-drops.ts'
import { useProjectUpload } from '../../../renderer/features/upload/use-project-upload.ts'
import type { DroppedSource } from '../../../renderer/lib/dropped-source.ts'
import { localConnection } from '../../../renderer/stores/connection.ts'
import { type Upload, useUploads } from '../../../renderer/stores/uploads.ts'
import { ApiError } from '../../../server/client/api-error.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const archive = new File(['PK\u0003\u0004'], 'shop.zip')
const createUpload = (sent: number): Upload => ({
  state: 'sending',
  transfer: { name: 'shop.zip', sent, total: 4000, rate: null, remaining_ms: null },
  cancel: vi.fn(),
})
const openCard = (upload: Upload) => {
  const [onTake, onDismiss] = [vi.fn(), vi.fn()]
  return { ...renderPart(<UploadCard upload={upload} onTake={onTake} onDismiss={onDismiss} />), onTake, onDismiss }
}
const chooseFile = (file: File) => fireEvent.change(screen.getByLabelText('Archive'), { target: { files: [file] } })
const files = { files: [archive], items: [], types: ['Files'] }
const zone = () => screen.getByText('Content').parentElement ?? document.body
const isHighlighted = () => screen.queryByText('Drop here') !== null

afterEach(() => {
  vi.restoreAllMocks()
  useUploads.setState({ uploads: {} })
})

test.each<[string, number, string]>([
  ['at its start', 999, 'Uploading shop.zip999 B of 4 kB (24 %) [Uploading shop.zip] Cancel Uploading shop.zip.'],
  ['after a quarter', 1000, 'Uploading shop.zip1 kB of 4 kB (25 %) [Uploading shop.zip] Cancel 25 percent of shop.zip uploaded.'],
  ['almost at its end', 3999, 'Uploading shop.zip4 kB of 4 kB (99 %) [Uploading shop.zip] Cancel 75 percent of shop.zip uploaded.'],
  [
    'at its end',
    4000,
    'Checking shop.zip4 kB of 4 kB (100 %). Verifying before the build… [Checking shop.zip] Cancel shop.zip is uploaded and is being checked.',
  ],
])('an upload %s', (_, sent, expected) => expect(openCard(createUpload(sent)).text()).toBe(`[Upload] ${expected}`))

test('an upload is canceled', async () => {
  const upload = createUpload(1000)
  const { user } = openCard(upload)
  expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25')
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(upload.state === 'sending' && upload.cancel).toHaveBeenCalledOnce()
})

const request_id = `req_${'0'.repeat(26)}`
test.each<[string, Upload, string]>([
  ['a file of an unknown kind', { state: 'refused', name: '', problem: { message: 'Pack it as a `.zip`.' } }, 'Pack it as a .zip.'],
  [
    'an invalid archive',
    {
      state: 'refused',
      name: 'shop.zip',
      problem: new ApiError('invalid_archive', 'It is damaged.', { status: 400, request_id, issues: [{ path: 'file', message: 'It ends early.' }] }),
    },
    `shop.zip was rejected. It is damaged. file It ends early. invalid_archive ${request_id}`,
  ],
  [
    'an instance that does not respond',
    { state: 'refused', name: 'shop.zip', problem: new ApiError('unreachable', 'Homeport is not responding.') },
    'shop.zip was rejected. Homeport is not responding. unreachable',
  ],
])('an upload that was rejected: %s', (_, upload, expected) => {
  expect(openCard(upload).text()).toBe(`[Upload] ${expected} Choose another… [Archive] [Dismiss]`)
})

test('another archive is chosen, or the error is dismissed', async () => {
  const { user, onTake, onDismiss } = openCard({ state: 'refused', name: '', problem: { message: 'It is empty.' } })
  await user.click(screen.getByRole('button', { name: 'Dismiss' }))
  expect(onDismiss).toHaveBeenCalledOnce()
  fireEvent.change(screen.getByLabelText('Archive'), { target: { files: [] } })
  chooseFile(archive)
  await expect.poll(() => onTake.mock.calls).toEqual([[{ kind: 'archive', file: archive, type: 'application/zip' }]])
})

test('the dialog takes an archive and closes, and says why it takes no other file', async () => {
  const [onOpenChange, onSource] = [vi.fn(), vi.fn()]
  const { text } = renderPart(<UploadArchiveDialog name="My shop" onOpenChange={onOpenChange} onSource={onSource} />)
  expect(text()).toBe(
    'Upload to My shop No downtime: the current version stays live until the new one is healthy. Drop a .zip or .tar.gz here Up to 250 MiB. Generated folders, such as node_modules, are ignored. Choose file… [Archive] [Close]',
  )
  chooseFile(new File([], 'empty.zip'))
  await expect.poll(() => screen.queryByRole('alert')?.textContent).toBe('“empty.zip” is empty.')
  expect(onOpenChange).not.toHaveBeenCalled()
  chooseFile(archive)
  await expect.poll(() => onOpenChange.mock.calls).toEqual([[false]])
  expect(onSource.mock.calls).toEqual([[{ kind: 'archive', file: archive, type: 'application/zip' }]])
})

function openZone(isEnabled = true) {
  const onDropped = vi.fn()
  const content = (
    <DropZone label="Drop here" isEnabled={isEnabled} onDropped={onDropped}>
      <p>Content</p>
    </DropZone>
  )
  return { ...renderPart(content), onDropped }
}

test('files that hover over a drop zone highlight it until they leave or are dropped', async () => {
  const { onDropped } = openZone()
  fireEvent.dragOver(zone(), { dataTransfer: { types: ['text/plain'] } })
  expect(isHighlighted()).toBe(false)
  fireEvent.dragOver(zone(), { dataTransfer: files })
  expect(isHighlighted()).toBe(true)
  fireEvent.dragLeave(zone())
  expect(isHighlighted()).toBe(false)
  fireEvent.dragOver(zone(), { dataTransfer: files })
  fireEvent.drop(zone(), { dataTransfer: files })
  expect(isHighlighted()).toBe(false)
  await expect.poll(() => onDropped.mock.calls).toEqual([[{ kind: 'archive', file: archive, type: 'application/zip' }]])
})

test('a drop zone ignores what is not a file, and everything while it is off', () => {
  const { onDropped } = openZone(false)
  fireEvent.dragOver(zone(), { dataTransfer: files })
  expect(isHighlighted()).toBe(false)
  const drop = createEvent.drop(zone(), { dataTransfer: files })
  fireEvent(zone(), drop)
  expect([drop.defaultPrevented, onDropped.mock.calls.length]).toEqual([false, 0])
})

test('an empty drop is left to the page', () => {
  openZone()
  const drop = createEvent.drop(zone(), { dataTransfer: { files: [], items: [], types: [] } })
  fireEvent(zone(), drop)
  expect(drop.defaultPrevented).toBe(false)
})

function Page() {
  usePreventStrayDrops()
  return null
}
test.each([
  ['drop', ['Files'], true],
  ['drop', ['text/plain'], false],
  ['dragover', ['Files'], true],
  ['dragover', ['text/plain'], false],
])('the browser does not handle a %s of %j outside of a drop zone: %s', (type, types, isPrevented) => {
  renderPart(<Page />)
  const dataTransfer = { types, dropEffect: 'copy' }
  const event = Object.assign(new Event(type, { bubbles: true, cancelable: true }), { dataTransfer })
  document.body.dispatchEvent(event)
  expect(event.defaultPrevented).toBe(isPrevented)
  expect(dataTransfer.dropEffect).toBe(type === 'dragover' && isPrevented ? 'none' : 'copy')
})

function Project({ dropped }: { dropped: DroppedSource }) {
  const { upload, take, dismiss } = useProjectUpload('my-shop')
  return (
    <>
      <p>{upload?.state === 'refused' ? upload.problem.message : (upload?.state ?? 'none')}</p>
      <button onClick={() => take(dropped)}>Take</button>
      <button onClick={dismiss}>Dismiss</button>
    </>
  )
}

test('a source that cannot be used is an error until it is dismissed', async () => {
  const { text, user } = renderPart(<Project dropped={{ kind: 'fault', text: 'It is empty.' }} />)
  await user.click(screen.getByText('Take'))
  expect(text()).toContain('It is empty.')
  await user.click(screen.getByText('Dismiss'))
  expect(text()).toContain('none')
})

test('a folder is deployed, and its deployment opens', async () => {
  const started = createExample(deployment, { id: 'dpl_9' })
  const answers = { deployFolder: new Response(JSON.stringify({ deployment: started, deployment_id: 'dpl_9' })) }
  const { sent, user } = renderPart(<Project dropped={{ kind: 'folder', path: '/home/me/shop' }} />, { answers })
  await user.click(screen.getByText('Take'))
  expect(sent).toEqual([{ operation: 'deployFolder', params: {}, body: { path: '/home/me/shop', slug: 'my-shop' } }])
  await expect.poll(() => location.pathname).toBe('/projects/my-shop/deployments/dpl_9')
})

test('an archive is uploaded once', async () => {
  const upload = vi.spyOn(localConnection.client, 'upload').mockReturnValue(new Promise(() => {}))
  const { text, user } = renderPart(<Project dropped={{ kind: 'archive', file: archive, type: 'application/zip' }} />)
  await user.click(screen.getByText('Take'))
  expect(text()).toContain('sending')
  await user.click(screen.getByText('Take'))
  expect(upload).toHaveBeenCalledOnce()
  expect(upload.mock.lastCall?.slice(0, 3)).toEqual(['uploadProject', { params: { slug: 'my-shop' }, query: { name: 'shop.zip' } }, archive])
})
