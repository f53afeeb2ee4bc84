/** Backups made by hand: sealed like real ones, so that what is refused is refused for what is in them. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { systemClock } from '../../server/lib/clock.ts'
import { keyFiles } from '../../server/options.ts'
import { copyDatabase } from '../../server/store/copy.ts'
import { openStore, type Store } from '../../server/store/open.ts'
import { createSealer } from '../../server/store/sealed.ts'
import { type BackupHead, digestLine, endName, headName, keyCheckPlace, sealPlace, storeFiles } from '../../server/upkeep/backup-format.ts'
import { restoreBackup, type RestoreOptions } from '../../server/upkeep/restore.ts'
import { type TarEntry, tarOf } from '../../server/upkeep/tar.ts'

export const key = createHash('sha256').update('a key for tests').digest()
export const sealer = createSealer(key)
const created_at = '2026-01-31T12:00:00.000Z'

export const fileOf = (name: string, text: string | Buffer): TarEntry => {
  const bytes = Buffer.from(text)
  return { name, kind: 'file', is_executable: false, size: bytes.length, chunks: [bytes] }
}
export const linkOf = (name: string, target: string): TarEntry => ({ name, kind: 'link', target })

export interface Forgery {
  entries?: TarEntry[]
  head?: Partial<BackupHead>
  /** Changes the three files of the store before they are packed. */
  store?: (name: string, path: string) => void
  fill?: (store: Store) => Promise<void>
  /** After the end. */
  after?: TarEntry[]
  end?: Record<string, unknown>
  without?: string[]
}

let plain: ReturnType<typeof storeParts> | undefined

/** The three files of the store of a fresh instance. */
async function storeParts(folder: string, forgery: Forgery): Promise<{ name: string; bytes: Buffer }[]> {
  const data = mkdtempSync(join(folder, 'forged-'))
  const store = await openStore({ data_dir: data, after_crash: false })
  await forgery.fill?.(store)
  const parts: { name: string; bytes: Buffer }[] = []
  for (const name of storeFiles) {
    const copy = join(data, `copy-of-${name}`)
    await copyDatabase(join(data, name), copy)
    forgery.store?.(name, copy)
    parts.push({ name, bytes: readFileSync(copy) })
  }
  await store.close()
  return parts
}

/** Packs a backup of an empty instance and what is asked for into `file`. */
export async function forge(folder: string, file: string, forgery: Forgery = {}): Promise<void> {
  const parts = forgery.fill || forgery.store ? await storeParts(folder, forgery) : await (plain ??= storeParts(folder, {}))
  const head: BackupHead = {
    format: 1,
    homeport: '0.1.0',
    created_at,
    instance_id: 'abc',
    platform: process.platform,
    arch: process.arch,
    key: { kind: 'file_key', check: base64(sealer.seal(keyCheckPlace(created_at), 'homeport')) },
    ledger_version: 3,
    counts: { projects: 0, deployments: 0, env_vars: 0, databases: 0 },
    parts: parts.map(({ name, bytes }) => ({ name, bytes: bytes.length, sha256: sha(bytes) })),
    ...forgery.head,
  }
  const entries = [
    fileOf(headName, JSON.stringify(head)),
    ...parts.filter(({ name }) => !forgery.without?.includes(name)).map(({ name, bytes }) => fileOf(name, bytes)),
    ...(forgery.entries ?? []),
  ]
  const digest = createHash('sha256')
  for (const entry of entries) {
    if (entry.kind !== 'file') digest.update(digestLine(entry.kind, entry.name, entry.kind === 'link' ? JSON.stringify(entry.target) : ''))
    else
      digest.update(
        digestLine(entry.is_executable ? 'program' : 'file', entry.name, `${entry.size} ${sha(Buffer.concat([...(entry.chunks as Buffer[])]))}`),
      )
  }
  const value = digest.digest('hex')
  const end = { entries: entries.length, digest: value, seal: base64(sealer.seal(sealPlace(created_at), value)), left_out: [], ...forgery.end }
  const last = forgery.without?.includes(endName) ? [] : [fileOf(endName, JSON.stringify(end))]
  writeFileSync(file, gzipSync(await tarBytes([...entries, ...last, ...(forgery.after ?? [])])))
}

export async function tarBytes(entries: TarEntry[]): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  async function* each() {
    yield* entries
  }
  for await (const chunk of tarOf(each(), 0)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Restores as the command line does. */
export const restore = (file: string, into: string, more: Partial<RestoreOptions> & { key_file?: string } = {}) =>
  restoreBackup({
    file,
    into,
    key: more.key_file === undefined ? undefined : { file: more.key_file, is_wrapped: false },
    key_names: keyFiles,
    clock: systemClock,
    signal: new AbortController().signal,
    ...more,
  })

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
