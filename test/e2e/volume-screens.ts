import type { Page } from '@playwright/test'
import type { UnsavedFiles } from '../../server/contract/unsaved-files.ts'
import type { Volume, VolumeEntry } from '../../server/contract/volumes.ts'
import type { Screen } from './screen.ts'
import { pickMenuItem } from './screen-actions.ts'

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()

const restoredAt = ago(12)

const volumes: Volume[] = [
  {
    name: 'uploads',
    size_bytes: 48_213_000,
    used_by: [
      { service: 'web', path: '/app/public/uploads', is_read_only: false },
      { service: 'thumbnails', path: '/app/public/uploads', is_read_only: true },
    ],
    snapshots: [
      { id: 'snp_2', bytes: 40_100_000, reason: 'before_restore', created_at: restoredAt },
      { id: 'snp_1', bytes: 39_000_000, reason: 'manual', created_at: ago(60 * 26) },
    ],
    added: { service: null, path: '/app/public/uploads' },
  },
  { name: 'managed-redis', size_bytes: null, used_by: [{ service: 'redis', path: '/data', is_read_only: false }], snapshots: [], added: null },
  {
    name: 'a-volume-of-an-earlier-version-with-a-long-name',
    size_bytes: 812,
    used_by: [],
    snapshots: [],
    added: null,
  },
  {
    name: 'sessions',
    size_bytes: 0,
    used_by: [],
    snapshots: [{ id: 'snp_0', bytes: 2_100, reason: 'before_delete', created_at: ago(60 * 24 * 9) }],
    added: null,
  },
]

const unsaved_files: UnsavedFiles[] = [
  {
    id: 'uns_1',
    service: null,
    path: '/app/guests.db',
    kind: 'database',
    is_file: true,
    files: 1,
    size_bytes: 4_100_000,
    volume: 'guests.db',
    saved: { id: 'snp_9', bytes: 812_000, reason: 'before_replace', created_at: ago(7) },
    found_at: ago(60),
  },
  {
    id: 'uns_2',
    service: 'worker',
    path: '/app/a/rather/long/path/to/public/uploads',
    kind: 'uploads',
    is_file: false,
    files: 1_204,
    size_bytes: null,
    volume: 'uploads',
    saved: null,
    found_at: ago(3),
  },
]

const entries: VolumeEntry[] = [
  { name: '2026', kind: 'folder', size_bytes: null, modified_at: ago(50) },
  { name: 'lantern on the quay.jpg', kind: 'file', size_bytes: 2_400_000, modified_at: ago(500) },
  { name: 'latest', kind: 'link', size_bytes: null, modified_at: ago(90) },
  { name: `${'a-name-that-is-long-'.repeat(5)}.txt`, kind: 'file', size_bytes: 12, modified_at: null },
]

/** The seeded platform has no app that writes files. */
async function withVolumes(page: Page): Promise<void> {
  await page.route('**/instance/projects/*/volumes', (route) => route.fulfill({ json: { volumes } }))
  await page.route('**/instance/projects/*/volumes/*/files*', (route) => route.fulfill({ json: { entries, is_complete: false } }))
}

async function withUnsavedFiles(page: Page): Promise<void> {
  await withVolumes(page)
  await page.route('**/instance/projects/*/unsaved-files', (route) => route.fulfill({ json: { unsaved_files } }))
}

export const volumeScreens: Screen[] = [
  { name: 'volumes-none', path: 'projects/harbour-shop/volumes' },
  { name: 'volumes', path: 'projects/harbour-shop/volumes', before: withVolumes },
  { name: 'volumes-unsaved', path: 'projects/harbour-shop/volumes', before: withUnsavedFiles },
  { name: 'overview-unsaved', path: 'projects/harbour-shop', before: withUnsavedFiles },
  { name: 'volumes-files', path: 'projects/harbour-shop/volumes?volume=uploads&path=photos', before: withVolumes },
  { name: 'volumes-add', path: 'projects/harbour-shop/volumes?do=add', act: (page) => page.getByRole('textbox', { name: 'Path' }).waitFor() },
  {
    name: 'volumes-keep',
    path: 'projects/harbour-shop/volumes',
    before: withUnsavedFiles,
    act: (page) => page.getByRole('button', { name: 'Keep this file: /app/guests.db' }).click(),
  },
  {
    name: 'volumes-restore',
    path: 'projects/harbour-shop/volumes',
    before: withVolumes,
    act: (page) => pickMenuItem(page, `Actions for the snapshot of ${restoredAt}`, 'Restore…'),
  },
  {
    name: 'volumes-upload',
    path: 'projects/harbour-shop/volumes',
    before: withVolumes,
    async act(page) {
      await pickMenuItem(page, 'Actions for uploads', 'Upload archive…')
      await page
        .getByLabel('Archive', { exact: true })
        .setInputFiles({ name: 'photos.tar.gz', mimeType: 'application/gzip', buffer: Buffer.alloc(48_000) })
      await page.getByLabel('Type uploads to confirm').fill('uploads')
    },
  },
  {
    name: 'volumes-delete',
    path: 'projects/harbour-shop/volumes',
    before: withVolumes,
    act: (page) => pickMenuItem(page, 'Actions for a-volume', 'Delete…'),
  },
  {
    name: 'volumes-detach',
    path: 'projects/harbour-shop/volumes',
    before: withVolumes,
    act: (page) => pickMenuItem(page, 'Actions for uploads', 'Detach…'),
  },
]
