import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createArchiveQuarantine } from '../../server/source/archive.ts'
import { createTarGz } from '../support/archives.ts'
import { hugeArchives } from '../support/hostile-archives.ts'
import { expectRefusal, inPieces } from './archive-cases.ts'
import { mutatedArchiveSuite } from './archive-faults.ts'

const root = mkdtempSync(join(tmpdir(), 'homeport-archive-'))
const quarantine = join(root, 'quarantine')
afterAll(() => rmSync(root, { recursive: true, force: true }))

test.each(hugeArchives)('$name', async (huge) => expectRefusal(await createArchiveQuarantine(quarantine), quarantine, huge))

test('100,000 files are accepted', async () => {
  const archive = createTarGz(Array.from({ length: 100_000 }, (_, n) => ({ name: `${n % 100}/${n}`, data: String(n) })))
  expect(await (await createArchiveQuarantine(quarantine)).receive(inPieces(archive), new AbortController().signal)).toMatchObject({ files: 100_000 })
})

mutatedArchiveSuite(2_000, Date.now() % 2 ** 32, { explores: true })
