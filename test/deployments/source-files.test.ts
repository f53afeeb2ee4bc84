import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { countChangedFiles, summarizeSource } from '../../server/deployments/source-files.ts'

const root = mkdtempSync(join(tmpdir(), 'homeport-source-files-'))
afterAll(() => rmSync(root, { recursive: true }))
const { signal } = new AbortController()

test('counts files that were added, changed, deleted or made executable, and their size', async () => {
  const write = (name: string, text: string, mode = 0o644) => writeFileSync(join(root, name), text, { mode })
  mkdirSync(join(root, 'src'))
  write('src/same.js', 'same')
  write('src/edited.js', 'one')
  write('deleted.js', 'gone')
  write('script.sh', 'run')
  symlinkSync('same.js', join(root, 'src/link'))
  const before = await summarizeSource(root, signal)
  expect(before.bytes).toBe(4 + 3 + 4 + 3 + 7)
  if (!before.digests) throw new Error('The source has few files.')
  expect(countChangedFiles(before.digests, before.digests)).toBe(0)

  // The same size, so that only the content tells.
  write('src/edited.js', 'two')
  rmSync(join(root, 'deleted.js'))
  rmSync(join(root, 'script.sh'))
  write('script.sh', 'run', 0o755)
  rmSync(join(root, 'src/link'))
  symlinkSync('edit.js', join(root, 'src/link'))
  write('constructor', '')
  const { digests = {} } = await summarizeSource(root, signal)
  expect(countChangedFiles(before.digests, digests)).toBe(5)
})

test('does not compare a source with very many files', async () => {
  const { bytes } = await summarizeSource(root, signal)
  expect(await summarizeSource(root, signal, 4)).toEqual({ bytes, digests: undefined })
})
