import { expect, test } from 'vitest'
import { findUnsavedFiles } from '../../server/deployments/unsaved-files.ts'
import { isWrittenPath } from '../../server/runtime/written-paths.ts'

const find = (files: (string | [string, number | null])[], { new_folders = [] as string[], mounts = [] as string[], app_folder = '/app' } = {}) =>
  findUnsavedFiles(
    {
      files: files.map((one) => {
        const [path, bytes] = typeof one === 'string' ? ([one, 100] as const) : one
        return { path, bytes, is_database: path.endsWith('.db') }
      }),
      new_folders: new Set(new_folders),
      app_folder,
      is_complete: true,
    },
    mounts,
  ).map(({ path, kind, is_file, files: count, bytes }) => [path, kind, is_file, count, bytes])

test('a folder that the image declares as a volume is reported, unless a project volume is mounted there', () => {
  const written = { files: [], new_folders: new Set<string>(), app_folder: '/app', is_complete: true }
  const image_volumes = [
    { path: '/srv/state', files: 2, bytes: 20 },
    { path: '/var/lib/mysql', files: 9, bytes: null },
  ]
  expect(findUnsavedFiles({ ...written, image_volumes }, ['/var/lib'])).toEqual([
    { path: '/srv/state', kind: 'uploads', is_file: 0, files: 2, bytes: 20 },
  ])
})

test('files that the next version writes again are ignored: caches, logs, dependencies, system files', () => {
  const ignored = [
    '/app/node_modules/a/data.db',
    '/app/.next/cache/data/x',
    '/app/logs/uploads/x.txt',
    '/app/server.log',
    '/app/data/app.pid',
    '/app/data/app.sock',
    '/app/__pycache__/a.pyc',
    '/app/data.db-wal',
    '/tmp/data/x.db',
    '/etc/data/x',
    '/root/.npm/_cacache/data',
    '/app/data/new\nline',
    '/usr/lib/data/x',
  ]
  expect(ignored.filter(isWrittenPath)).toEqual([])
  const written = ['/app/data.db', '/app/.data/kv', '/usr/src/app/uploads/a.png', '/data/a', '/app/public/uploads/ä b.png', '/var/www/html/files/a']
  expect(written.filter((path) => !isWrittenPath(path))).toEqual([])
})

test('a data folder is found as a whole, by its name', () => {
  expect(find(['/app/public/uploads/2026/a.png', '/app/public/uploads/b.png', '/app/server.js'])).toEqual([
    ['/app/public/uploads', 'uploads', 0, 2, 200],
  ])
  expect(find([['/data/a', null], '/data/b'])).toEqual([['/data', 'uploads', 0, 2, null]])
})

test('a database is found with its folder if the build did not create it, and alone next to files of the build', () => {
  expect(find(['/app/app.db'])).toEqual([['/app/app.db', 'database', 1, 1, 100]])
  expect(find(['/app/prisma/dev.db'])).toEqual([['/app/prisma/dev.db', 'database', 1, 1, 100]])
  expect(find(['/app/state/one/app.db', '/app/state/note'], { new_folders: ['/app/state', '/app/state/one'] })).toEqual([
    ['/app/state', 'database', 0, 2, 200],
  ])
})

test('the folder of the app itself is never reported, whatever its name', () => {
  expect(find(['/data/app.db', '/data/uploads/a'], { app_folder: '/data' })).toEqual([
    ['/data/app.db', 'database', 1, 1, 100],
    ['/data/uploads', 'uploads', 0, 1, 100],
  ])
  expect(find(['/a.db'], { app_folder: '/', new_folders: ['/'] })).toEqual([['/a.db', 'database', 1, 1, 100]])
})

test('other new folders are reported when they have several megabytes', () => {
  const folders = { new_folders: ['/app/pictures', '/app/texts'] }
  expect(
    find(
      [
        ['/app/pictures/a.png', 3_000_000],
        ['/app/pictures/b.png', 3_000_000],
        ['/app/texts/c.txt', 3_000],
      ],
      folders,
    ),
  ).toEqual([['/app/pictures', 'files', 0, 2, 6_000_000]])
})

test('files in a volume are not reported', () => {
  expect(find(['/app/uploads/a.png', '/app/app.db', '/app/uploads2/b'], { mounts: ['/app/uploads', '/app/app.db'] })).toEqual([])
})
