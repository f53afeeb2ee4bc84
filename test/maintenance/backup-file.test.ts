/** The file format, checked with the system's tar. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { folderEntries } from '../../server/maintenance/backup/backup-entries.ts'
import { writeTar } from '../../server/maintenance/backup/tar-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeport-tar-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the system’s tar reads our archives: long names, Unicode, links, executables, empty files and folders', async () => {
  const from = join(folder, 'from')
  const deep = join(from, ...Array.from({ length: 12 }, (_, i) => `folder-with-a-long-name-${i}`))
  mkdirSync(deep, { recursive: true })
  mkdirSync(join(from, 'empty'))
  writeFileSync(join(from, 'nothing'), '')
  writeFileSync(join(from, 'größe – 漢字.txt'), 'ü')
  writeFileSync(join(from, 'run.sh'), '#!/bin/sh\n')
  chmodSync(join(from, 'run.sh'), 0o755)
  writeFileSync(join(deep, `${'n'.repeat(200)}.bin`), Buffer.alloc(3_000_000, 7))
  symlinkSync('run.sh', join(from, 'inside'))
  symlinkSync(join(from, 'run.sh'), join(from, 'absolute'))
  symlinkSync('../../etc/passwd', join(from, 'outside'))
  symlinkSync('/etc/passwd', join(from, 'far'))

  const notes: string[] = []
  const file = join(folder, 'x.tar')
  const bytes: Uint8Array[] = []
  for await (const chunk of writeTar(
    folderEntries(from, 'bundles/x', (what) => notes.push(what)),
    Date.UTC(2026, 0, 2),
  ))
    bytes.push(chunk)
  writeFileSync(file, Buffer.concat(bytes))
  // POSIX: an archive ends with two blocks of zeros.
  expect(Buffer.concat(bytes).subarray(-1024)).toEqual(Buffer.alloc(1024))
  const to = join(folder, 'to')
  mkdirSync(to)
  execFileSync('tar', ['xf', file, '-C', to])

  const at = join(to, 'bundles', 'x')
  expect(notes.sort()).toEqual([
    'bundles/x/far: a link that points outside of its folder.',
    'bundles/x/outside: a link that points outside of its folder.',
  ])
  expect([readlinkSync(join(at, 'inside')), readlinkSync(join(at, 'absolute'))]).toEqual(['run.sh', 'run.sh'])
  rmSync(join(from, 'outside'))
  rmSync(join(from, 'far'))
  rmSync(join(from, 'absolute'))
  rmSync(join(at, 'absolute'))
  expect(execFileSync('diff', ['-r', '--no-dereference', from, at], { encoding: 'utf8' })).toBe('')
  expect(statSync(join(at, 'run.sh')).mode & 0o777).toBe(0o755)
  expect(readFileSync(join(at, 'nothing'), 'utf8')).toBe('')
})
