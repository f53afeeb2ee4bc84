import { screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import VolumesPage from '../../../renderer/features/volumes/page.tsx'
import { VolumeCard } from '../../../renderer/features/volumes/volume-card.tsx'
import { volumeFilename, volumeFilesPath } from '../../../renderer/features/volumes/volume-format.ts'
import { VolumeFiles } from '../../../renderer/features/volumes/volume-files.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { volume, volumeEntry, type VolumeEntry, volumeSnapshot } from '../../../server/contract/volumes.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const past = '2026-01-31T09:00:00.000Z'
const snapshot = createExample(volumeSnapshot, { id: 'snap_1', bytes: 4000, created_at: past })
const createEntry = (own: Partial<VolumeEntry> = {}) =>
  createExample(volumeEntry, { name: 'shop.db', kind: 'file', size_bytes: 2000, modified_at: past, ...own })
interface FolderState {
  branch?: string | null
  path?: string
  is_complete?: boolean
  answers?: NonNullable<PartOptions['answers']>
}
function openFiles(entries: VolumeEntry[] | null, { branch = null, path = '', is_complete = true, answers = {} }: FolderState = {}) {
  return renderPart(<VolumeFiles slug="my-shop" branch={branch} name="data" path={path} />, {
    data: entries ? [[[...queryKeys.volumeFiles('my-shop'), branch, 'data', path], { entries, is_complete }]] : [],
    answers,
  })
}
const link = (name: string) => screen.getByRole('link', { name }).getAttribute('href')
const button = (name: string | RegExp) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)
const savedNames = () =>
  vi.mocked(HTMLAnchorElement.prototype.click).mock.contexts.map((one) => (one instanceof HTMLAnchorElement ? one.download : null))

beforeEach(() => {
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue()
})
afterEach(() => vi.restoreAllMocks())

test.each<[string, VolumeEntry[] | null, string]>([
  ['loading', null, 'All volumes data Loading'],
  ['none', [], 'All volumes data No files This folder is empty.'],
  [
    'one of each kind',
    [
      createEntry({ name: 'photos', kind: 'folder', size_bytes: null, modified_at: null }),
      createEntry(),
      createEntry({ name: 'latest', kind: 'link', size_bytes: null }),
      createEntry({ name: 'socket', kind: 'other', size_bytes: 0, modified_at: null }),
    ],
    'All volumes data [Files] photos shop.dbJan 31, 20262 kB [Download shop.db] Download latest · linkJan 31, 2026 socket0 B',
  ],
])('files: %s', (_, entries, expected) => expect(openFiles(entries).text()).toBe(expected))

test('a folder that has more files than are listed', () => {
  expect(openFiles([createEntry()], { is_complete: false }).text()).toMatch(/There are more files\. Download the volume to see all of them\.$/)
})

test('why the files cannot be listed', async () => {
  const { text } = openFiles(null, { answers: { listVolumeFiles: problemResponse('volume_not_found', 'It was deleted.') } })
  expect((await screen.findByRole('alert')).textContent).toContain('It was deleted.')
  expect(text()).not.toContain('Loading')
})

test.each<[string | null, string, Record<string, string>]>([
  [null, '', { 'All volumes': '/projects/my-shop/volumes', photos: '/projects/my-shop/volumes?volume=data&path=photos' }],
  [
    'docs',
    'a/b',
    {
      'All volumes': '/projects/my-shop/volumes?branch=docs',
      data: '/projects/my-shop/volumes?branch=docs&volume=data',
      a: '/projects/my-shop/volumes?branch=docs&volume=data&path=a',
      photos: '/projects/my-shop/volumes?branch=docs&volume=data&path=a%2Fb%2Fphotos',
    },
  ],
])('the links in a folder of the branch %s at %j', (branch, path, links) => {
  openFiles([createEntry({ name: 'photos', kind: 'folder' })], { branch, path })
  expect(screen.getAllByRole('link').map(({ textContent }) => textContent)).toEqual(Object.keys(links))
  for (const [name, address] of Object.entries(links)) expect(link(name)).toBe(address)
  expect(screen.getByRole('heading').textContent).toBe(path === '' ? 'data' : 'data / a / b')
})

test('the page lists the files of the volume in its address', () => {
  history.replaceState(null, '', '/projects/my-shop/volumes?volume=data')
  const { text } = renderPart(<VolumesPage slug="my-shop" />, {
    data: [
      [[...queryKeys.volumes('my-shop'), null], []],
      [queryKeys.previews('my-shop'), []],
      [queryKeys.unsavedFiles('my-shop'), []],
      [[...queryKeys.volumeFiles('my-shop'), null, 'data', ''], { entries: [createEntry()], is_complete: true }],
    ],
  })
  expect(text()).toContain('shop.db')
})

test.each<[string, string, string]>([
  ['', 'shop.db', '/instance/projects/my-shop/volumes/data/files/content?path=shop.db'],
  ['photos', 'shop.db', '/instance/projects/my-shop/volumes/data/files/content?path=photos%2Fshop.db'],
])('a file in the folder %j is downloaded', async (path, name, address) => {
  const { user } = openFiles([createEntry()], { path, answers: { downloadVolumeFile: new Response('content') } })
  const send = vi.fn(globalThis.fetch)
  vi.stubGlobal('fetch', send)
  await user.click(button('Download shop.db'))
  await expect.poll(savedNames).toEqual([name])
  expect(send.mock.calls.map(([url]) => url)).toEqual([address])
})

test('a volume and a snapshot of it are downloaded, and why one cannot be', async () => {
  const data = createExample(volume, { name: 'data', size_bytes: 2000, used_by: [], snapshots: [snapshot], added: null })
  const { user } = renderPart(<VolumeCard slug="my-shop" branch="docs" volume={data} onDeployed={vi.fn()} />, {
    answers: { downloadVolume: new Response('content') },
  })
  const send = vi.fn(globalThis.fetch)
  vi.stubGlobal('fetch', send)
  await user.click(button(/^Download the snapshot/))
  await expect.poll(savedNames).toEqual(['my-shop-data-2026-01-31-0900.tar.gz'])
  await user.click(button('Actions for data'))
  await user.click(screen.getByRole('menuitem', { name: 'Download' }))
  await expect.poll(() => savedNames()[1]).toMatch(/^my-shop-data-20\d\d-\d\d-\d\d-\d{4}\.tar\.gz$/)
  const path = '/instance/projects/my-shop/volumes/data/download.tar.gz?branch=docs'
  expect(send.mock.calls.map(([url]) => url)).toEqual([`${path}&snapshot=snap_1`, path])
  vi.stubGlobal('fetch', () => Promise.resolve(problemResponse('volume_not_found', 'It was deleted.')))
  await user.click(button('Actions for data'))
  await user.click(screen.getByRole('menuitem', { name: 'Download' }))
  await expect.poll(toasts).toEqual(['failed: It was deleted.'])
  expect(savedNames()).toHaveLength(2)
})

test('names of downloads and addresses of folders', () => {
  expect(volumeFilename('my-shop', 'data', past)).toBe('my-shop-data-2026-01-31-0900.tar.gz')
  expect(volumeFilesPath('my-shop', null, 'data')).toBe('/projects/my-shop/volumes?volume=data')
})
