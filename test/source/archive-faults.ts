import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ArchiveError, createArchiveQuarantine, unpackArchive } from '../../server/source/archive.ts'
import { createTar, createZip } from '../support/archives.ts'
import { createSeededRandom, mutateBytes } from '../support/seeded-random.ts'

const corpusFile = new URL('corpus/archives.json', import.meta.url)

/** An archive that once violated the rule below, as base64. */
interface PastFailure {
  what: string
  bytes: string
}
const corpus = () => JSON.parse(readFileSync(corpusFile, 'utf8')) as PastFailure[]

/** The rule: an archive is refused as invalid, or unpacked completely into its own folder. Nothing of it is left elsewhere. */
async function check(bytes: Buffer): Promise<'refused' | 'unpacked'> {
  const root = mkdtempSync(join(tmpdir(), 'homeport-faults-'))
  const signal = new AbortController().signal
  try {
    const archives = await createArchiveQuarantine(join(root, 'quarantine'))
    async function* chunks() {
      yield bytes
    }
    const received = await archives.receive(chunks(), signal).catch((error: unknown) => {
      if (error instanceof ArchiveError) return undefined
      throw error
    })
    if (received) {
      const into = join(root, 'into')
      const { files } = await unpackArchive(received.file, into, signal)
      expect(files).toBe(received.files)
      for (const entry of readdirSync(into, { recursive: true, withFileTypes: true })) {
        if (entry.isSymbolicLink()) expect(leadsTo(join(entry.parentPath, entry.name), into)).toContain(into + sep)
        else expect(entry.isFile() || entry.isDirectory()).toBe(true)
      }
      await received.discard()
    }
    expect(readdirSync(join(root, 'quarantine'))).toEqual([])
    expect(readdirSync(root).toSorted()).toEqual(received ? ['into', 'quarantine'] : ['quarantine'])
    return received ? 'unpacked' : 'refused'
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** A dangling symlink leads nowhere. */
function leadsTo(link: string, otherwise: string): string {
  try {
    return realpathSync(link) + sep
  } catch {
    return otherwise + sep
  }
}

/** Valid archives with random faults, and past failures. */
export function mutatedArchiveSuite(count: number, seed: number, { explores = false } = {}): void {
  test('archives of the corpus are refused or unpacked', async () => {
    for (const { what, bytes } of corpus()) expect(await check(Buffer.from(bytes, 'base64')).catch(String), what).toMatch(/^(refused|unpacked)$/)
  })

  test(`${count} valid archives with mutations of the seed ${seed} are refused or unpacked`, async () => {
    const seededRandom = createSeededRandom(seed)
    const files = Array.from({ length: 12 }, (_, n) => ({
      name: `app/dir-${n % 3}/file-${n}.html`,
      data: `<p>${n}</p>`.repeat(seededRandom.between(1, 400)),
    }))
    const more = [...files, { name: 'app/index.html', data: 'home' }]
    const long = { name: 'app/long', pax: { path: `app/${'l'.repeat(150)}` }, data: 'x' }
    const tar = createTar([...more, { name: 'app/link', type: '2', link: 'index.html' }, long])
    const zip = createZip([...more, { name: 'app/link', data: 'index.html', mode: 0o120777, method: 0 }])
    const outcomes = { refused: 0, unpacked: 0 }
    for (let n = 0; n < count; n++) {
      // Inside the compression every second time, because its checksum would detect the fault first.
      const bytes =
        n % 4 === 0
          ? mutateBytes(gzipSync(tar), seededRandom)
          : n % 2 === 0
            ? gzipSync(mutateBytes(tar, seededRandom))
            : mutateBytes(zip, seededRandom)
      try {
        outcomes[await check(bytes)]++
      } catch (error) {
        const fault: PastFailure = { what: `${n} of seed ${seed}: ${String(error).slice(0, 200)}`, bytes: bytes.toString('base64') }
        if (explores) writeFileSync(corpusFile, `${JSON.stringify([...corpus(), fault], null, 2)}\n`)
        throw new Error(fault.what, { cause: error })
      }
    }
    expect(outcomes.refused).toBeGreaterThan(count * 0.4)
    expect(outcomes.unpacked).toBeGreaterThan(0)
  })
}
