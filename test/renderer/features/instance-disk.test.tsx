import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { CleanUpDialog } from '../../../renderer/features/instance/clean-up-dialog.tsx'
import { safeKinds } from '../../../renderer/features/instance/disk-kinds.ts'
import DiskPage from '../../../renderer/features/instance/disk-page.tsx'
import { type CleanableKind, type DiskUsage, diskUsage } from '../../../server/contract/maintenance.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createRow = (own: Partial<DiskUsage>) =>
  createExample(diskUsage, { kind: 'images', bytes: 0, count: null, reclaimable_bytes: 0, location: 'data_folder', note: null, ...own })
const images = createRow({ kind: 'images', bytes: 5e9, count: 3, reclaimable_bytes: 2e9, location: 'engine' })
const session = { user: { is_instance_owner: true }, instance: { version: '1.0.0', runtime: { name: 'docker' } } }
const createDisk = (kinds: DiskUsage[], free_bytes = 9e9) => ({ kinds, free_bytes, total_bytes: 6e9, data_dir: '/data' })
const renderDisk = (kinds: DiskUsage[], free_bytes?: number) =>
  renderPart(<DiskPage />, {
    data: [
      [queryKeys.session, session],
      [queryKeys.disk, createDisk(kinds, free_bytes)],
    ],
  })
const renderCleanUp = (chosen: readonly CleanableKind[], rows: DiskUsage[], answers = {}) => {
  const closed: string[] = []
  return { closed, ...renderPart(<CleanUpDialog rows={rows} chosen={chosen} onOpenChange={() => closed.push('closed')} />, { answers }) }
}
const afterTabs = (text: string) => text.split('Backups ').slice(1).join('Backups ')

const summary = '6.0 GB used by Homeport 9.0 GB free on the disk of /data Clean up…'
test.each<[string, DiskUsage[], string]>([
  ['without anything', [], `${summary} By kind`],
  [
    'with images in the engine and other kinds',
    [
      createRow({ kind: 'logs', bytes: 1e9, count: 1 }),
      images,
      createRow({ kind: 'databases', bytes: 2e9, count: 0, note: 'Of two projects.' }),
      createRow({ kind: 'build_cache', reclaimable_bytes: null, location: 'engine' }),
    ],
    `${summary} [By kind: Images 5.0 GB, Databases 2.0 GB, Logs 1.0 GB] Images 5.0 GB Databases 2.0 GB Logs 1.0 GB By kind ` +
      'Images in the container engine Images of running containers and of rollback candidates. 5.0 GB3 items Free 2.0 GB… of images in the container engine ' +
      'Databases in the data folder Of two projects. 2.0 GB ' +
      'Logs in the data folder Build and runtime logs. 1.0 GB1 item nothing to free ' +
      'Build cache in the container engine Lets builds skip unchanged steps. 0 B Clean up… of build cache in the container engine',
  ],
  [
    'with empty kinds',
    [createRow({ kind: 'logs' }), createRow({ kind: 'logs' }), createRow({ kind: 'volumes', location: 'engine' })],
    `${summary} By kind Empty: logs, build volumes in the container engine.`,
  ],
])('a disk %s', (_, kinds, expected) => expect(afterTabs(renderDisk(kinds).text())).toBe(expected))

test.each<[string, number, DiskUsage[], string]>([
  [
    'is filling up',
    4e9,
    [images],
    'The disk is filling up. When it is full, deployments, uploads and dumps are rejected; running apps keep running. A cleanup frees about 2.0 GB.',
  ],
  [
    'is nearly full',
    1e8,
    [],
    'The disk is nearly full. When it is full, deployments, uploads and dumps are rejected; running apps keep running. Free up space on it, or move the data folder to another disk.',
  ],
])('a disk that %s is reported', (_, free_bytes, kinds, expected) => {
  renderDisk(kinds, free_bytes)
  expect(screen.getByRole('status').textContent).toBe(expected)
  expect(screen.getByRole('button', { name: 'Clean up…' }).className).toContain('button-primary')
})

test('a disk with enough space has no warning', () => {
  renderDisk([images])
  expect(screen.queryByRole('status')).toBeNull()
  expect(screen.getByRole('button', { name: 'Clean up…' }).className).toContain('button-plain')
})

test('the disk loads, and a failure can be tried again', async () => {
  const answers: { getDisk: Response } = { getDisk: problemResponse('forbidden', 'Not for you.') }
  const { user, text } = renderPart(<DiskPage />, { data: [[queryKeys.session, session]], answers })
  expect(text()).toContain('Loading')
  await waitFor(() => expect(text()).toMatch(/Not for you\. forbidden .*Try again$/))
  expect(text()).not.toContain('Loading')
  answers.getDisk = Response.json(createDisk([images]))
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(text()).toContain('6.0 GB used by Homeport'))
  expect(document.title).toBe('Disk · Homeport')
})

test('others do not see the disk', () => {
  const { text } = renderPart(<DiskPage />, { data: [[queryKeys.session, { ...session, user: { is_instance_owner: false } }]] })
  expect(text()).toContain('Only the instance owner can see disk usage.')
})

test.each([
  ['Clean up…', 'Clean up everything that is safe to remove?'],
  ['Free 2.0 GB… of images in the container engine', 'Clean up images?'],
])('“%s” opens its dialog', async (name, title) => {
  const { user } = renderDisk([images])
  await user.click(screen.getByRole('button', { name }))
  expect(within(screen.getByRole('dialog')).getByRole('heading').textContent).toBe(title)
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('an address opens the dialog, and closing it removes the address', async () => {
  history.replaceState(null, '', '/app/?do=clean')
  const { user } = renderDisk([images])
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(location.search).toBe('')
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('another address opens no dialog', () => {
  history.replaceState(null, '', '/app/?do=other')
  renderDisk([images])
  expect(screen.queryByRole('dialog')).toBeNull()
})

const kept = 'Live deployments, rollback candidates and files that Homeport did not create are kept. Your data is never touched.'
const unknownCache = createRow({ kind: 'build_cache', bytes: 3e9, reclaimable_bytes: null })
test.each<[string, readonly CleanableKind[], DiskUsage[], string]>([
  [
    'everything safe',
    safeKinds,
    [images, unknownCache, createRow({ kind: 'logs', bytes: 1e9 }), createRow({ kind: 'edge_cache', bytes: 1e9, reclaimable_bytes: 1e9 })],
    `Clean up everything that is safe to remove? ${kept} Images Images that are not in use and not needed for a rollback. 2.0 GB Build cache The next build of each project takes longer. unknown until done Cancel Free about 2.0 GB`,
  ],
  [
    'a kind of an unknown size',
    ['build_cache'],
    [unknownCache],
    `Clean up build cache? ${kept} Build cache The next build of each project takes longer. unknown until done Cancel Clean up`,
  ],
  [
    'a kind in two places',
    ['build_cache'],
    [unknownCache, createRow({ kind: 'build_cache', reclaimable_bytes: 1e9, location: 'engine' })],
    `Clean up build cache? ${kept} Build cache The next build of each project takes longer. 1.0 GB or more Cancel Free about 1.0 GB`,
  ],
  ['nothing', ['images'], [], `Clean up images? ${kept} There is nothing to free right now. Close`],
  [
    'nothing of a chosen kind',
    ['logs'],
    [createRow({ kind: 'logs', bytes: 5 }), images],
    `Clean up logs? ${kept} There is nothing to free right now. Close`,
  ],
  ['no kind', [], [images], `Clean up everything that is safe to remove? ${kept} There is nothing to free right now. Close`],
])('the question before a cleanup of %s', (_, chosen, rows, expected) => expect(renderCleanUp(chosen, rows).text()).toBe(`${expected} [Close]`))

test.each<[readonly CleanableKind[], object, string]>([
  [safeKinds, {}, 'Free about 2.0 GB'],
  [['images'], { kinds: ['images'] }, 'Free about 2.0 GB'],
])('a cleanup of %j sends %j and shows its progress', async (chosen, body, name) => {
  const { user, sent, text } = renderCleanUp(chosen, [images])
  await user.click(screen.getByRole('button', { name }))
  expect(sent).toEqual([{ operation: 'cleanDisk', params: {}, body }])
  await waitFor(() => expect(text()).toContain('Cleaning up'))
})

test('a cleanup that fails says why', async () => {
  const { user, text } = renderCleanUp(['images'], [images], { cleanDisk: problemResponse('forbidden', 'Not for you.') })
  await user.click(screen.getByRole('button', { name: 'Free about 2.0 GB' }))
  await waitFor(() => expect(text()).toContain('Not for you. forbidden'))
  expect(text()).not.toContain('Cleaning up')
})

const freed = (own: object) => ({ kind: 'images', bytes: 0, count: 0, note: null, ...own })
test.each<[string, object[], number, string]>([
  [
    'freed space',
    [
      freed({ bytes: 2e9 }),
      freed({ kind: 'logs', count: 1200 }),
      freed({ kind: 'bundles', count: 1, note: 'Later.' }),
      freed({ kind: 'volumes', note: 'It is in use.' }),
      freed({ kind: 'other' }),
    ],
    2e9,
    '2.0 GB freed Images 2.0 GB Logs 0 B · 1,200 items Bundles and archives Later. 0 B · 1 item Build volumes It is in use. 0 B Done [Close]',
  ],
  ['freed nothing', [freed({})], 0, 'Nothing to free Done [Close]'],
])('a cleanup that %s', async (_, rows, freed_bytes, expected) => {
  const { user, text, closed } = renderCleanUp(['images'], [images], { cleanDisk: { freed: rows, freed_bytes } })
  await user.click(screen.getByRole('button', { name: 'Free about 2.0 GB' }))
  await waitFor(() => expect(text()).toBe(expected))
  await user.click(screen.getByRole('button', { name: 'Done' }))
  expect(closed).toEqual(['closed'])
})
