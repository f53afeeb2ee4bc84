import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createVolumeSnapshots } from '../../server/deployments/volume-snapshots.ts'

test('a snapshot that is removed while a volume is listed does not fail the list', async () => {
  const root = mkdtempSync(join(tmpdir(), 'homeport-snapshots-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'volume-snapshots', 'prj_a.files')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'snp_1.manual.tar.gz'), 'archive')
  // As between reading the folder and reading the file: a name without a file.
  symlinkSync('gone', join(folder, 'snp_2.manual.tar.gz'))

  expect(await createVolumeSnapshots(root).list('prj_a.files')).toEqual([expect.objectContaining({ id: 'snp_1', bytes: 7 })])
})
