/** Forged backups, encrypted like real ones, so that only their content can be refused. */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { systemClock } from '../../server/lib/clock.ts'
import { masterKeyFiles } from '../../server/options.ts'
import { copyDatabaseFile } from '../../server/store/database-copy.ts'
import { openStore, type Store, type Tx } from '../../server/store/store.ts'
import { createSealer } from '../../server/store/sealer.ts'
import {
  backupFormat,
  type BackupManifest,
  digestLine,
  trailerName,
  manifestName,
  keyCheckColumn,
  sealColumn,
  storeFiles,
} from '../../server/maintenance/backup/backup-format.ts'
import { restoreBackup, type RestoreOptions } from '../../server/maintenance/restore/restore-backup.ts'
import { type TarEntry, writeTar } from '../../server/maintenance/backup/tar-writer.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

export const key = createHash('sha256').update('a key for tests').digest()
export const sealer = createSealer(key)
const created_at = '2026-01-31T12:00:00.000Z'

export const fileOf = (name: string, text: string | Buffer): TarEntry => {
  const bytes = Buffer.from(text)
  return { name, kind: 'file', is_executable: false, size: bytes.length, chunks: [bytes] }
}
export const linkOf = (name: string, target: string): TarEntry => ({ name, kind: 'link', target })

export interface BackupForgery {
  entries?: TarEntry[]
  head?: Partial<BackupManifest>
  /** As earlier versions of Homeport wrote it. */
  is_format_1?: boolean
  /** Changes the three files of the store before they are packed. */
  store?: (name: string, path: string) => void
  fill?: (store: Store) => Promise<void>
  /** Bytes after the end. */
  after?: TarEntry[]
  end?: Record<string, unknown>
  without?: string[]
}

let plain: Promise<string> | undefined

/** A folder with the three files of the store of a fresh instance. */
async function storeFolder(folder: string, fill?: BackupForgery['fill']): Promise<string> {
  const data = mkdtempSync(join(folder, 'forged-'))
  const copies = mkdtempSync(join(folder, 'copies-'))
  const store = await openStore({ data_dir: data, after_crash: false })
  await fill?.(store)
  for (const name of storeFiles) await copyDatabaseFile(join(data, name), join(copies, name))
  await store.close()
  return copies
}

/** The files of the store, changed by a forgery. */
async function storeParts(folder: string, { fill, store }: BackupForgery): Promise<{ name: string; bytes: Buffer }[]> {
  const from = fill ? await storeFolder(folder, fill) : await (plain ??= storeFolder(folder))
  const copies = mkdtempSync(join(folder, 'changed-'))
  return storeFiles.map((name) => {
    const copy = join(copies, name)
    copyFileSync(join(from, name), copy)
    store?.(name, copy)
    return { name, bytes: readFileSync(copy) }
  })
}

/** Packs a backup of an empty instance with the requested entries into `file`. */
export async function forgeBackup(folder: string, file: string, forgery: BackupForgery = {}): Promise<void> {
  const parts = await storeParts(folder, forgery)
  const head: BackupManifest = {
    format: backupFormat,
    homeport: '0.1.0',
    created_at,
    instance_id: 'abc',
    platform: process.platform,
    arch: process.arch,
    key: { kind: 'file_key', check: base64(sealer.seal(keyCheckColumn(created_at), 'homeport')) },
    schema_version: 3,
    counts: { projects: 0, deployments: 0, env_vars: 0, databases: 0 },
    parts: parts.map(({ name, bytes }) => ({ name, bytes: bytes.length, sha256: sha256(bytes) })),
    ...forgery.head,
  }
  const { schema_version, ...rest } = head
  const written = forgery.is_format_1 ? { ...rest, format: 1, ledger_version: schema_version } : head
  const entries = [
    fileOf(manifestName, JSON.stringify(written)),
    ...parts.filter(({ name }) => !forgery.without?.includes(name)).map(({ name, bytes }) => fileOf(name, bytes)),
    ...(forgery.entries ?? []),
  ]
  const digest = createHash('sha256')
  for (const entry of entries) {
    if (entry.kind !== 'file') digest.update(digestLine(entry.kind, entry.name, entry.kind === 'link' ? JSON.stringify(entry.target) : ''))
    else
      digest.update(
        digestLine(entry.is_executable ? 'program' : 'file', entry.name, `${entry.size} ${sha256(Buffer.concat([...(entry.chunks as Buffer[])]))}`),
      )
  }
  const value = digest.digest('hex')
  const end = { entries: entries.length, digest: value, seal: base64(sealer.seal(sealColumn(created_at), value)), left_out: [], ...forgery.end }
  const last = forgery.without?.includes(trailerName) ? [] : [fileOf(trailerName, JSON.stringify(end))]
  writeFileSync(file, gzipSync(await tarBytes([...entries, ...last, ...(forgery.after ?? [])])))
}

/** A backup with one entry of every kind. */
export const forgeValidBackup = (folder: string, file: string) =>
  forgeBackup(folder, file, {
    entries: [
      fileOf('bundles/dpl_1/app/server.js', 'x'.repeat(200_000)),
      linkOf('bundles/dpl_1/app/link', 'server.js'),
      linkOf('bundles/dpl_1/up', 'app/../app/server.js'),
      linkOf('bundles/dpl_1/circle', 'circle'),
      linkOf('bundles/dpl_1/dangling', 'app/none'),
      { name: 'sources/dpl_1/empty', kind: 'folder' },
      { ...fileOf('sources/dpl_1/run.sh', '#!'), is_executable: true } as ReturnType<typeof fileOf>,
      fileOf('archives/prj_1/dpl_2', 'an archive'),
    ],
  })

/** Flips bits of a backup one by one, in the file and in its content: each is refused, or no data of ours is changed. */
export async function checkFlippedBits(good: string, { seed, flips }: { seed: number; flips: number }): Promise<void> {
  const seededRandom = createSeededRandom(seed)
  const folder = mkdtempSync(`${good}-flipped-`)
  const [file, into, keyFile] = [join(folder, 'flipped.tar.gz'), join(folder, 'into'), join(folder, 'the.key')]
  writeFileSync(keyFile, key.toString('hex'))
  const packed = readFileSync(good)
  const unpacked = gunzipSync(packed)
  let taken = 0
  for (let i = 0; i < flips; i++) {
    const bytes = Buffer.from(i % 2 === 0 ? packed : unpacked)
    const at = seededRandom.between(0, bytes.length - 1)
    bytes[at]! ^= 1 << seededRandom.between(0, 7)
    writeFileSync(file, i % 2 === 0 ? bytes : gzipSync(bytes, { level: 1 }))
    const error = await restore(file, into, { key_file: keyFile }).then(
      () => undefined,
      (why: Error) => why,
    )
    if (error) expect(readdirSync(folder).sort()).toEqual(['flipped.tar.gz', 'the.key'])
    else {
      // The gzip header, the padding and the times and owners of entries contain no data of ours.
      taken++
      expect([seed, i, readFileSync(join(into, 'bundles/dpl_1/app/server.js'), 'utf8') === 'x'.repeat(200_000)]).toEqual([seed, i, true])
      rmSync(into, { recursive: true })
    }
  }
  expect(taken).toBeLessThan(flips / 6)
  rmSync(folder, { recursive: true })
}

export async function tarBytes(entries: TarEntry[]): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  async function* each() {
    yield* entries
  }
  for await (const chunk of writeTar(each(), 0)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The project `prj_1` without further rows. */
export function insertSampleProject(tx: Tx, accountId: string): void {
  tx.statement(`INSERT INTO projects (id, account_id, name, slug, sealed_repo_credentials, repo_branch, node_version, install_command, build_command, root_directory,
     memory_limit_mb, status, always_warm, caching_enabled, created_at, updated_at)
     VALUES ('prj_1', ?, 'One', 'one', x'00', 'main', 'auto', 'auto', 'auto', '.', 512, 'created', 0, 1, '2026-01-31', '2026-01-31')`).run(accountId)
}

/** Restores like the command line. */
export const restore = (file: string, into: string, more: Partial<RestoreOptions> & { key_file?: string } = {}) =>
  restoreBackup({
    file,
    into,
    key: more.key_file === undefined ? undefined : { file: more.key_file, is_wrapped: false },
    key_names: masterKeyFiles,
    clock: systemClock,
    signal: new AbortController().signal,
    ...more,
  })

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
