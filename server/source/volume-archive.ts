import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, type Header, type Pack, pack } from 'tar-stream'
import { limits } from '../contract/limits.ts'
import type { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import type { ArchiveEntry } from './archive-entry.ts'
import { readArchiveEntries, saveArchive } from './archive-reader.ts'
import { type ArchiveRules, createArchiveTree } from './archive-tree.ts'

/** Files for a volume, from an archive that was received completely and passed all checks. */
export interface ReceivedFiles {
  /** Unpacked. */
  bytes: number
  files: number
  /** Whether the archive has an entry for the volume's own folder, like a downloaded volume. */
  has_root: boolean
  /**
   * The files as a tar stream, with modes, links and owners. `owner` replaces the owner of all files. Bits that change the user of a
   * program (setuid, setgid) are removed.
   */
  open(owner: FileOwner | undefined, signal: AbortSignal): Readable
  discard(): Promise<void>
}

export interface FileOwner {
  uid: number
  gid: number
}

/** A volume may contain files of any name that the file system of this machine supports. */
const rules: ArchiveRules = {
  max_entries: limits.volume_upload.entries,
  excluded: new Set(),
  has_top_folder: false,
  requires_files: false,
  folds_names: process.platform === 'darwin' || process.platform === 'win32',
}
const archiveLimits = { ...limits.volume_upload, max_entries: rules.max_entries, allows_hard_links: true }

/** Writes an archive to a new file and checks it. Throws ArchiveError, or the error of `chunks`; then no file remains. */
export async function receiveFiles(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  { signal, limitChecks }: { signal: AbortSignal; limitChecks: ReturnType<typeof createConcurrencyLimit> },
): Promise<ReceivedFiles> {
  const discard = () => rm(file, { force: true, maxRetries: 3 })
  try {
    await saveArchive(chunks, file)
    const checked = await limitChecks(signal, () => checkFiles(file, signal))
    return { ...checked, discard, open: (owner, during) => openFiles(file, owner, during) }
  } catch (error) {
    await discard()
    throw error
  }
}

async function checkFiles(file: string, signal: AbortSignal): Promise<Pick<ReceivedFiles, 'bytes' | 'files' | 'has_root'>> {
  const tree = createArchiveTree(rules)
  let bytes = 0
  let has_root = false
  for await (const entry of readArchiveEntries(file, archiveLimits, signal)) {
    if (tree.add(entry.name, entry.kind, entry.target) === null) has_root = true
    bytes += entry.size
    for await (const _ of entry.bytes) signal.throwIfAborted()
  }
  return { bytes, files: tree.finish().files, has_root }
}

/** The archive was checked as a whole, and each entry is checked again, because only checked names are written. */
function openFiles(file: string, owner: FileOwner | undefined, signal: AbortSignal): Readable {
  const tar = pack()
  const write = async () => {
    const tree = createArchiveTree(rules)
    for await (const entry of readArchiveEntries(file, archiveLimits, signal)) {
      const path = tree.add(entry.name, entry.kind, entry.target) ?? '.'
      await writeEntry(tar, entry, path, owner)
    }
    tar.finalize()
  }
  write().catch((error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))))
  return Readable.from(tar, { objectMode: false })
}

const tarTypes = { file: 'file', folder: 'directory', link: 'symlink', hard_link: 'link' } as const
/** Permissions, and the sticky bit of shared folders. */
const keptModeBits = 0o1777

async function writeEntry(tar: Pack, entry: ArchiveEntry, path: string, owner: FileOwner | undefined): Promise<void> {
  const { kind, target, mode, size, modified_at, bytes } = entry
  const header: Partial<Header> & Pick<Header, 'name'> = {
    name: kind === 'folder' ? `${path}/` : path,
    type: tarTypes[kind],
    mode: mode & keptModeBits,
    size,
    ...(owner ?? entry.owner ?? { uid: 0, gid: 0 }),
    ...(modified_at && { mtime: modified_at }),
    ...(target !== null && { linkname: kind === 'hard_link' ? normalizeName(target) : target }),
  }
  if (kind === 'file') await pipeline(Readable.from(bytes, { objectMode: false }), tar.entry(header))
  else tar.entry(header)
}

/** Without the empty and `.` segments that an archive may contain. */
const normalizeName = (name: string): string =>
  name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

/** The owner of the folder that is the first entry of a tar stream, such as that of a volume. Ends the stream. */
export async function readRootOwner(archive: Readable): Promise<FileOwner | undefined> {
  const tar = extract()
  archive.once('error', (error) => tar.destroy(error)).pipe(tar)
  try {
    for await (const { header } of tar)
      return /^(\.\/?)?$/.test(header.name) && header.type === 'directory' ? { uid: header.uid ?? 0, gid: header.gid ?? 0 } : undefined
    return undefined
  } finally {
    archive.destroy()
  }
}
