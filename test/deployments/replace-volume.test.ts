import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { replaceVolume, undoInterruptedReplacements } from '../../server/deployments/replace-volume.ts'
import type { Log } from '../../server/lib/log.ts'
import type { Runtime } from '../../server/runtime/runtime.ts'

const volume = { runtime: 'process', id: 'prj_1.data', project_id: 'prj_1' } as const
let data_dir: string
/** The content of each volume, as one text. */
let volumes: Map<string, string>
let context: Parameters<typeof replaceVolume>[0]

beforeEach(() => {
  data_dir = mkdtempSync(join(tmpdir(), 'homeport-replace-'))
  volumes = new Map([['prj_1.data', 'old']])
  const runtime: Partial<Runtime> = {
    cloneVolume: async () => undefined,
    restoreClone: async () => false,
    exportVolume: async (id) => (volumes.has(id) ? Readable.from([volumes.get(id) ?? '']) : undefined),
    importVolume: async (id, _project, archive) => void volumes.set(id, await text(archive)),
    removeVolume: async (id) => volumes.delete(id) || true,
  }
  const log: Partial<Log> = { info: () => {}, error: () => {} }
  context = { data_dir, runtime: () => runtime as Runtime, log: log as Log }
})
afterEach(() => rmSync(data_dir, { recursive: true, force: true }))

const marks = () => readdirSync(join(data_dir, 'volume-snapshots', 'prj_1.data')).filter((name) => name === 'replacing')

test('returns the snapshot of the replaced files, and leaves no marker', async () => {
  expect(await replaceVolume(context, volume, async () => void volumes.set('prj_1.data', 'new'))).toMatchObject({ reason: 'before_restore' })
  expect([...volumes.values(), ...marks()]).toEqual(['new'])
})

test.each([
  ['a volume’s files are restored', 'old'],
  ['a volume that did not exist is removed', undefined],
])('after a failure %s', async (_name, before) => {
  if (before === undefined) volumes.clear()
  const work = async () => {
    volumes.set('prj_1.data', 'half')
    throw new Error('cut off')
  }
  await expect(replaceVolume(context, volume, work)).rejects.toThrow('cut off')
  expect([volumes.get('prj_1.data'), ...marks()]).toEqual([before])
})

test('names a full disk', async () => {
  const work = () => Promise.reject(new Error('write ENOSPC'))
  await expect(replaceVolume(context, volume, work)).rejects.toMatchObject({ code: 'storage_full' })
  expect(volumes.get('prj_1.data')).toBe('old')
})

test.each([
  ['has its files restored', 'old'],
  ['that did not exist is removed', undefined],
])('a volume whose replacement was interrupted %s at the next start', async (_name, before) => {
  if (before === undefined) volumes.clear()
  let interrupt = () => {}
  const interrupted = new Promise<void>((resolve) => (interrupt = resolve))
  // The platform ends here: nothing after it runs.
  void replaceVolume(context, volume, () => {
    volumes.set('prj_1.data', 'half')
    interrupt()
    return new Promise(() => {})
  })
  await interrupted
  expect(marks()).toEqual(['replacing'])
  await undoInterruptedReplacements(context, 'docker', true)
  expect(volumes.get('prj_1.data')).toBe('half')
  await undoInterruptedReplacements(context, 'process', true)
  expect([volumes.get('prj_1.data'), ...marks()]).toEqual([before])
})
