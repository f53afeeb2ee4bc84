import { createHash } from 'node:crypto'
import { createReadStream, statfsSync } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import { readTar } from '../../source/archive-tar.ts'
import { databasesFolder, digestLine, trailerName, manifestName, storeFiles, copiedFolders, volumesFolder } from '../backup/backup-format.ts'

/** A rejected backup; the message is shown to the user. No files remain. */
export class RestoreError extends Error {}

const maxPath_bytes = 4096
const maxDepth = 256
const maxDocument_bytes = 64 * 2 ** 20
/** This much space is kept free, so that a zip bomb does not fill the disk. */
const reservedSpace_bytes = 256 * 2 ** 20
const spaceCheckInterval_bytes = 64 * 2 ** 20
const smallFile_bytes = 64 * 1024
const maxConcurrentWrites = 16
const maxLinkHops = 40

interface BackupLink {
  name: string
  target: string
}

export interface UnpackBackupOptions {
  file: string
  /** An empty folder. */
  into: string
  signal: AbortSignal
  /** Called with the first entry, before other files are written; throws to reject the backup. */
  onManifest(text: string): void
  /** Called when a file is complete. */
  onFile(name: string, sha256: string, bytes: number): void
}

/**
 * Unpacks an untrusted backup: names stay below the folder, files are written into newly created folders, and links are created last; a link that
 * leaves the folder through other links is dropped. Returns the last document and the digest of all previous entries.
 */
export async function unpackBackup(options: UnpackBackupOptions): Promise<{ end: string; digest: string; entries: number; dropped: string[] }> {
  const { file, into, signal } = options
  const digest = createHash('sha256')
  const links: BackupLink[] = []
  const createdFolders = new Set<string>()
  const pendingWrites = new Set<Promise<void>>()
  let failure: Error | undefined
  let entries = 0
  let end: string | undefined
  let bytesSinceCheck = spaceCheckInterval_bytes
  const handle = await open(file, 'r')
  try {
    const tar = readTar({ handle, size: (await handle.stat()).size, openRange: (from) => readFrom(file, from), countBytes: checkFreeSpace, signal })
    for await (const entry of tar) {
      if (end !== undefined) throw new RestoreError('The backup contains data after its end.')
      if (entries === 0) {
        if (entry.name !== manifestName || entry.kind !== 'file') throw new RestoreError('This file is not a Homeport backup.')
        const text = await readDocument(entry.bytes)
        options.onManifest(text)
        digest.update(digestLine('file', manifestName, `${Buffer.byteLength(text)} ${hashText(text)}`))
        entries++
        continue
      }
      if (entry.name === trailerName && entry.kind === 'file') {
        end = await readDocument(entry.bytes)
        continue
      }
      entries++
      if (entry.kind === 'hard_link') throw new RestoreError('The backup contains a hard link.')
      const name = validateEntryPath(entry.name, entry.kind)
      const folder = entry.kind === 'folder' ? name : name.slice(0, name.lastIndexOf('/') + 1).replace(/\/$/, '')
      if (!createdFolders.has(folder)) {
        await mkdir(join(into, folder), { recursive: true, mode: isAppFile(folder) ? 0o755 : 0o700 })
        createdFolders.add(folder)
      }
      if (entry.kind !== 'file') {
        const target = entry.target ?? ''
        if (entry.kind === 'link') links.push({ name, target })
        digest.update(digestLine(entry.kind, entry.name.replace(/\/$/, ''), entry.kind === 'link' ? JSON.stringify(target) : ''))
        continue
      }
      const { sum, bytes } = await writeEntry(entry.bytes, join(into, name), fileModeOf(name, entry.is_executable), trackWrite)
      digest.update(digestLine(entry.is_executable ? 'program' : 'file', name, `${bytes} ${sum}`))
      options.onFile(name, sum, bytes)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw toBackupError(error)
  } finally {
    await Promise.allSettled(pendingWrites)
    await handle.close()
  }
  if (failure) throw failure
  if (end === undefined) throw new RestoreError('The backup is truncated: its end is missing.')
  for (const link of links) await createLink(into, link)
  const escapingLinks: string[] = []
  for (const link of links) if (!(await isLinkInside(into, link))) escapingLinks.push(link.name)
  for (const name of escapingLinks) await rm(join(into, name))
  return { end, digest: digest.digest('hex'), entries, dropped: escapingLinks }

  /** Small files are written while the next ones are read. */
  async function trackWrite(work: Promise<void>): Promise<void> {
    const write: Promise<void> = work.catch((error: unknown) => void (failure ??= toRestoreError(error))).finally(() => pendingWrites.delete(write))
    pendingWrites.add(write)
    if (pendingWrites.size >= maxConcurrentWrites) await Promise.race(pendingWrites)
    if (failure) throw failure
  }

  function checkFreeSpace(bytes: number): void {
    bytesSinceCheck += bytes
    if (bytesSinceCheck < spaceCheckInterval_bytes) return
    bytesSinceCheck = 0
    const { bavail, bsize } = statfsSync(into)
    if (bavail * bsize < reservedSpace_bytes + spaceCheckInterval_bytes) throw new RestoreError('There is not enough disk space for this backup.')
  }
}

async function writeEntry(
  chunks: AsyncIterable<Buffer>,
  path: string,
  mode: number,
  trackWrite: (work: Promise<void>) => Promise<void>,
): Promise<{ sum: string; bytes: number }> {
  const sum = createHash('sha256')
  let buffered: Buffer[] = []
  let bytes = 0
  let handle: FileHandle | undefined
  try {
    for await (const chunk of chunks) {
      sum.update(chunk)
      bytes += chunk.length
      if (!handle && bytes <= smallFile_bytes) {
        buffered.push(chunk)
        continue
      }
      handle ??= await open(path, 'wx', mode)
      for (const one of [...buffered, chunk]) await handle.writeFile(one)
      buffered = []
    }
    // A restored file is synced before the restore reports success.
    await handle?.sync()
  } catch (error) {
    throw toRestoreError(error)
  } finally {
    await handle?.close()
  }
  if (!handle) await trackWrite(writeFile(path, Buffer.concat(buffered), { flag: 'wx', mode }))
  return { sum: sum.digest('hex'), bytes }
}

/** Keeps group and other permission bits: these files are copied into images and run under another uid. */
const isAppFile = (name: string): boolean => /^(?:sources|bundles)\//.test(name)
const fileModeOf = (name: string, isExecutable: boolean): number => (isAppFile(name) ? (isExecutable ? 0o755 : 0o644) : 0o600)

/** The path of an entry; throws for paths that a backup cannot contain. */
function validateEntryPath(name: string, kind: 'file' | 'folder' | 'link'): string {
  const parts = (kind === 'folder' ? name.replace(/\/$/, '') : name).split('/')
  const isPlain =
    Buffer.byteLength(name) <= maxPath_bytes &&
    parts.length <= maxDepth &&
    parts.every(
      (part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && !(process.platform === 'win32' && /[\\:]/.test(part)),
    )
  const [top = '', second = '', third = ''] = parts
  const isOurs =
    (parts.length === 1 && kind === 'file' && storeFiles.some((file) => file === name)) ||
    (parts.length === 2 && kind === 'file' && top === databasesFolder && /^[A-Za-z0-9_]{1,63}\.sql$/.test(second)) ||
    (parts.length === 3 && kind === 'file' && top === volumesFolder && /^[a-z]{1,20}$/.test(second) && /^prj_[\w.-]{1,150}\.tar$/.test(third)) ||
    (copiedFolders.some((tree) => tree === top) && (parts.length > 1 || kind === 'folder'))
  const isLinkAllowed = kind !== 'link' || ((top === 'bundles' || top === 'sources') && parts.length > 2)
  if (!isPlain || !isOurs || !isLinkAllowed) throw new RestoreError(`The backup contains an unexpected entry: “${sanitizeName(name)}”.`)
  return parts.join('/')
}

/** A valid backup contains no link whose own target is outside. */
async function createLink(into: string, { name, target }: BackupLink): Promise<void> {
  const isPlain = target !== '' && !target.includes('\0') && !target.startsWith('/') && Buffer.byteLength(target) <= maxPath_bytes
  const depth = name.split('/').length - 3
  const isWindows = process.platform === 'win32' && /[\\:]/.test(target)
  if (!isPlain || isWindows || findLowestLevel(target) < -depth)
    throw new RestoreError(`The backup contains a link that points outside of its folder: “${sanitizeName(name)}”.`)
  await symlink(target, join(into, name)).catch((error: unknown) => {
    throw toRestoreError(error)
  })
}

/** The number of levels that a path rises above its start, as a number of at most 0. */
function findLowestLevel(target: string): number {
  let level = 0
  let lowestLevel = 0
  for (const part of target.split('/')) {
    if (part === '..') lowestLevel = Math.min(lowestLevel, --level)
    else if (part !== '' && part !== '.') level++
  }
  return lowestLevel
}

/** Whether a link stays below its own deployment's folder through all other links; resolved step by step, as a file system does. */
async function isLinkInside(into: string, { name, target }: BackupLink): Promise<boolean> {
  const root = name.split('/').slice(0, 2)
  const stack = name.split('/').slice(2, -1)
  const pending = target.split('/').toReversed()
  for (let hops = 0; pending.length > 0;) {
    const part = pending.pop() ?? ''
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (stack.pop() === undefined) return false
      continue
    }
    stack.push(part)
    const path = join(into, ...root, ...stack)
    const info = await lstat(path).catch(() => undefined)
    if (!info?.isSymbolicLink()) continue
    // A circular link has no target.
    if (++hops > maxLinkHops) return true
    stack.pop()
    pending.push(...(await readlink(path)).split('/').toReversed())
  }
  return true
}

async function readDocument(chunks: AsyncIterable<Buffer>): Promise<string> {
  const buffered: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxDocument_bytes) throw new RestoreError('This file is not a Homeport backup: its manifest is too large.')
    buffered.push(chunk)
  }
  return Buffer.concat(buffered).toString('utf8')
}

async function* readFrom(file: string, from: number): AsyncGenerator<Buffer> {
  yield* createReadStream(file, { start: from, highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>
}

/** Translates errors about the archive. A reader that was aborted by another error only reports the abort. */
function toBackupError(error: unknown): Error {
  const { message } = toRestoreError(error)
  if (error instanceof Problem) return new RestoreError(message.replace(/\barchive\b/g, 'backup'), { cause: error })
  if (/stream was destroyed|premature close|closed before ending/i.test(message))
    return new RestoreError('The backup is damaged or truncated.', { cause: error })
  return toRestoreError(error)
}

function toRestoreError(error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EEXIST' || code === 'ENOTDIR' || code === 'EISDIR') return new RestoreError('The backup contains two entries with the same name.')
  if (code === 'ENOSPC') return new RestoreError('There is not enough disk space for this backup.')
  return error instanceof Error ? error : new Error(String(error))
}

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex')

// oxlint-disable-next-line no-control-regex -- that is what is taken out
const sanitizeName = (name: string): string => name.slice(0, 200).replace(/[\u0000-\u001f\u007f-\u009f]/g, '�')
