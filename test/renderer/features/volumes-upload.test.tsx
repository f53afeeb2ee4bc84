import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { UploadVolumeArchiveDialog } from '../../../renderer/features/volumes/upload-archive-dialog.tsx'
import { localConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { ApiError } from '../../../server/client/api-error.ts'
import { volumeSnapshot } from '../../../server/contract/volumes.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const snapshot = createExample(volumeSnapshot)
const openUpload = (branch: string | null = null, isInUse = false) => {
  const onClose = vi.fn()
  return { ...renderPart(<UploadVolumeArchiveDialog slug="my-shop" branch={branch} name="data" isInUse={isInUse} onClose={onClose} />), onClose }
}
const button = (name: string) => screen.getByRole('button', { name })
const selectFiles = (...names: string[]) =>
  fireEvent.change(screen.getByLabelText('Archive'), { target: { files: names.map((name) => new File(['content'], name)) } })
const typeName = (name: string) => fireEvent.change(screen.getByLabelText('Type data to confirm'), { target: { value: name } })
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)

afterEach(() => vi.restoreAllMocks())

test.each<[string[], string]>([
  [['shop.tar.gz'], 'shop.tar.gz'],
  [['shop.tgz'], 'shop.tgz'],
  [['shop.ZIP'], 'shop.ZIP'],
  [['shop.tar'], 'Drop a file here or choose one.'],
  [['shop.zip', 'docs.zip'], 'Drop a file here or choose one.'],
])('%j is chosen as the archive', (names, shown) => {
  const { text } = openUpload()
  expect(text()).toContain('A snapshot of the current files is taken first. If the upload fails, the current files stay.')
  selectFiles(...names)
  expect(text()).toContain(shown)
  const error = screen.queryByRole('alert')?.textContent
  expect(error).toBe(names.length > 1 ? 'Choose one file at a time.' : shown === names[0] ? undefined : 'Choose a .tar.gz or .zip archive.')
  typeName('data')
  expect(button('Replace files')).toHaveProperty('disabled', shown !== names[0])
})

test.each<[string | null, string, string, number, boolean, string]>([
  [null, 'shop.zip', 'application/zip', 1, true, 'done: Uploaded 1 file into data. The previous files are in a snapshot.'],
  ['docs', 'zip.tgz', 'application/gzip', 2, false, 'done: Uploaded 2 files into data.'],
])('for the branch %s, %s is uploaded', async (branch, name, type, files, hasBefore, toast) => {
  const upload = vi.spyOn(localConnection.client, 'upload').mockResolvedValue({ files, size_bytes: 7, before: hasBefore ? snapshot : null })
  const { text, user, onClose } = openUpload(branch, true)
  expect(text()).toContain('is taken first. The services stop during this, and requests wait. If the upload')
  selectFiles(name)
  typeName('dat')
  expect(button('Replace files')).toHaveProperty('disabled', true)
  fireEvent.submit(document.querySelector('form') ?? document.body)
  expect(upload).not.toHaveBeenCalled()
  typeName('data')
  await user.click(button('Replace files'))
  await expect.poll(toasts).toEqual([toast])
  const [operation, input, file, options] = upload.mock.lastCall ?? []
  expect([operation, input, options?.type]).toEqual([
    'uploadVolume',
    { params: { slug: 'my-shop', name: 'data' }, query: branch === null ? {} : { branch } },
    type,
  ])
  expect(file).toHaveProperty('name', name)
  expect(onClose).toHaveBeenCalledOnce()
})

test('an upload shows its progress and stays open until it is canceled', async () => {
  const upload = vi.spyOn(localConnection.client, 'upload').mockReturnValue(new Promise(() => {}))
  const { text, user, onClose } = openUpload()
  selectFiles('shop.zip')
  typeName('data')
  await user.click(button('Replace files'))
  expect(text()).toContain('Uploading shop.zip')
  expect(screen.getByLabelText('Type data to confirm')).toHaveProperty('disabled', true)
  await user.click(button('Close'))
  await user.click(button('Cancel'))
  expect(onClose).not.toHaveBeenCalled()
  expect(upload.mock.lastCall?.[3].signal?.aborted).toBe(true)
})

test('an uploaded archive is being unpacked, and why it cannot be', async () => {
  const { promise, reject } = Promise.withResolvers<never>()
  vi.spyOn(localConnection.client, 'upload').mockImplementation((_id, _input, _file, { onProgress }) => {
    onProgress?.(7, 7)
    return promise
  })
  const { text, user, onClose } = openUpload()
  selectFiles('shop.zip')
  typeName('data')
  await user.click(button('Replace files'))
  expect(text()).toContain('Saving the current files, then replacing them')
  expect(text()).not.toContain('Uploading')
  reject(new ApiError('invalid_archive', 'It is not an archive.', { status: 400 }))
  expect((await screen.findByRole('alert')).textContent).toContain('It is not an archive.')
  expect(text()).not.toContain('Saving the current files')
  await user.click(button('Cancel'))
  expect(onClose).toHaveBeenCalledOnce()
})
