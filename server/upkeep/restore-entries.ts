import { createHash } from 'node:crypto'
import { createReadStream, statfsSync } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../contract/errors.ts'
import { readTar } from '../source/archive-tar.ts'
import { databasesFolder, digestLine, endName, headName, storeFiles, trees } from './backup-format.ts'

/** A backup that is not taken, in a sentence. Nothing of it stays. */
export class RestoreRefused extends Error {}

const maxPathBytes = 4096
const maxDepth = 256
const maxDocumentBytes = 64 * 2 ** 20
/** This much stays free, so that a bomb does not stop the machine. */
const spared_bytes = 256 * 2 ** 20
const looksAfter_bytes = 64 * 2 ** 20
const small_bytes = 64 * 1024
const writtenAtOnce = 16
const maxHops = 40

interface Link {
  name: string
  target: string
}

export interface UnpackOptions {
  file: string
  /** An empty folder of ours. */
  into: string
  signal: AbortSignal
  /** The first entry, before anything else is written; throws to refuse. */
  onHead(text: string): void
  /** A file is whole. */
  onFile(name: string, sha256: string, bytes: number): void
}

/**
 * Unpacks a backup, trusting nothing in it: names stay below the folder, files are written into folders that we made, links
 * come last; one that leads out over others is dropped. Returns the last document and the digest of all that came before it.
 */
export async function unpackBackup(options: UnpackOptions): Promise<{ end: string; digest: string; entries: number; dropped: string[] }> {
  const { file, into, signal } = options
  const digest = createHash('sha256')
  const links: Link[] = []
  const made = new Set<string>()
  const writing = new Set<Promise<void>>()
  let failure: Error | undefined
  let entries = 0
  let end: string | undefined
  let sinceLook = looksAfter_bytes
  const handle = await open(file, 'r')
  try {
    const tar = readTar({ handle, size: (await handle.stat()).size, open: (from) => read(file, from), count, signal })
    for await (const entry of tar) {
      if (end !== undefined) throw new RestoreRefused('The backup goes on after its end.')
      if (entries === 0) {
        if (entry.name !== headName || entry.kind !== 'file') throw new RestoreRefused('This is no backup of Homeport.')
        const text = await document(entry.bytes)
        options.onHead(text)
        digest.update(digestLine('file', headName, `${Buffer.byteLength(text)} ${sha(text)}`))
        entries++
        continue
      }
      if (entry.name === endName && entry.kind === 'file') {
        end = await document(entry.bytes)
        continue
      }
      entries++
      const name = placeOf(entry.name, entry.kind)
      const folder = entry.kind === 'folder' ? name : name.slice(0, name.lastIndexOf('/') + 1).replace(/\/$/, '')
      if (!made.has(folder)) {
        await mkdir(join(into, folder), { recursive: true, mode: isOfApp(folder) ? 0o755 : 0o700 })
        made.add(folder)
      }
      if (entry.kind !== 'file') {
        const target = entry.target ?? ''
        if (entry.kind === 'link') links.push({ name, target })
        digest.update(digestLine(entry.kind, entry.name.replace(/\/$/, ''), entry.kind === 'link' ? JSON.stringify(target) : ''))
        continue
      }
      const { sum, bytes } = await store(entry.bytes, join(into, name), modeOf(name, entry.is_executable), put)
      digest.update(digestLine(entry.is_executable ? 'program' : 'file', name, `${bytes} ${sum}`))
      options.onFile(name, sum, bytes)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw faultOf(error)
  } finally {
    await Promise.allSettled(writing)
    await handle.close()
  }
  if (failure) throw failure
  if (end === undefined) throw new RestoreRefused('The backup is cut off: its end is missing.')
  for (const link of links) await makeLink(into, link)
  const dropped: string[] = []
  for (const link of links) if (!(await staysInside(into, link))) dropped.push(link.name)
  for (const name of dropped) await rm(join(into, name))
  return { end, digest: digest.digest('hex'), entries, dropped }

  /** Small files are written while the next ones are read. */
  async function put(work: Promise<void>): Promise<void> {
    const one: Promise<void> = work.catch((error: unknown) => void (failure ??= said(error))).finally(() => writing.delete(one))
    writing.add(one)
    if (writing.size >= writtenAtOnce) await Promise.race(writing)
    if (failure) throw failure
  }

  function count(bytes: number): void {
    sinceLook += bytes
    if (sinceLook < looksAfter_bytes) return
    sinceLook = 0
    const { bavail, bsize } = statfsSync(into)
    if (bavail * bsize < spared_bytes + looksAfter_bytes) throw new RestoreRefused('There is not enough room on the disk for what is in this backup.')
  }
}

async function store(
  chunks: AsyncIterable<Buffer>,
  path: string,
  mode: number,
  put: (work: Promise<void>) => Promise<void>,
): Promise<{ sum: string; bytes: number }> {
  const sum = createHash('sha256')
  let held: Buffer[] = []
  let bytes = 0
  let handle: FileHandle | undefined
  try {
    for await (const chunk of chunks) {
      sum.update(chunk)
      bytes += chunk.length
      if (!handle && bytes <= small_bytes) {
        held.push(chunk)
        continue
      }
      handle ??= await open(path, 'wx', mode)
      for (const one of [...held, chunk]) await handle.writeFile(one)
      held = []
    }
    // What was promised to be restored is on the disk when that is said.
    await handle?.sync()
  } catch (error) {
    throw said(error)
  } finally {
    await handle?.close()
  }
  if (!handle) await put(writeFile(path, Buffer.concat(held), { flag: 'wx', mode }))
  return { sum: sum.digest('hex'), bytes }
}

/** What builds are made of keeps what others may do with it: it ends in images, where an app is another user. */
const isOfApp = (name: string): boolean => /^(?:sources|bundles)\//.test(name)
const modeOf = (name: string, isExecutable: boolean): number => (isOfApp(name) ? (isExecutable ? 0o755 : 0o644) : 0o600)

/** Where an entry goes; throws for all that is not one of ours. */
function placeOf(name: string, kind: 'file' | 'folder' | 'link'): string {
  const parts = (kind === 'folder' ? name.replace(/\/$/, '') : name).split('/')
  const isPlain =
    Buffer.byteLength(name) <= maxPathBytes &&
    parts.length <= maxDepth &&
    parts.every(
      (part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && !(process.platform === 'win32' && /[\\:]/.test(part)),
    )
  const [top = '', second = ''] = parts
  const isOurs =
    (parts.length === 1 && kind === 'file' && storeFiles.some((file) => file === name)) ||
    (parts.length === 2 && kind === 'file' && top === databasesFolder && /^[A-Za-z0-9_]{1,63}\.sql$/.test(second)) ||
    (trees.some((tree) => tree === top) && (parts.length > 1 || kind === 'folder'))
  const mayLink = kind !== 'link' || ((top === 'bundles' || top === 'sources') && parts.length > 2)
  if (!isPlain || !isOurs || !mayLink) throw new RestoreRefused(`The backup holds “${printable(name)}”, which no backup of Homeport holds.`)
  return parts.join('/')
}

/** No backup of ours holds a link that says by itself that it leads out. */
async function makeLink(into: string, { name, target }: Link): Promise<void> {
  const isPlain = target !== '' && !target.includes('\0') && !target.startsWith('/') && Buffer.byteLength(target) <= maxPathBytes
  const depth = name.split('/').length - 3
  const isWindows = process.platform === 'win32' && /[\\:]/.test(target)
  if (!isPlain || isWindows || lowest(target) < -depth)
    throw new RestoreRefused(`The backup holds a link that leads out of its folder: “${printable(name)}”.`)
  await symlink(target, join(into, name)).catch((error: unknown) => {
    throw said(error)
  })
}

/** How far up a path goes from where it starts, as a number that is not positive. */
function lowest(target: string): number {
  let level = 0
  let least = 0
  for (const part of target.split('/')) {
    if (part === '..') least = Math.min(least, --level)
    else if (part !== '' && part !== '.') level++
  }
  return least
}

/** Whether a link stays below its own deployment's folder over whatever other links it leads; followed by hand, as a system does it. */
async function staysInside(into: string, { name, target }: Link): Promise<boolean> {
  const root = name.split('/').slice(0, 2)
  const stack = name.split('/').slice(2, -1)
  const ahead = target.split('/').toReversed()
  for (let hops = 0; ahead.length > 0;) {
    const part = ahead.pop() ?? ''
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (stack.pop() === undefined) return false
      continue
    }
    stack.push(part)
    const path = join(into, ...root, ...stack)
    const info = await lstat(path).catch(() => undefined)
    if (!info?.isSymbolicLink()) continue
    // A circle leads nowhere.
    if (++hops > maxHops) return true
    stack.pop()
    ahead.push(...(await readlink(path)).split('/').toReversed())
  }
  return true
}

async function document(chunks: AsyncIterable<Buffer>): Promise<string> {
  const held: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxDocumentBytes) throw new RestoreRefused('This is no backup of Homeport: what describes it is too large.')
    held.push(chunk)
  }
  return Buffer.concat(held).toString('utf8')
}

async function* read(file: string, from: number): AsyncGenerator<Buffer> {
  yield* createReadStream(file, { start: from, highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>
}

/** What is told of an archive is said of a backup; a reader that was cut off by the fault of another says only that. */
function faultOf(error: unknown): Error {
  const { message } = said(error)
  if (error instanceof Problem) return new RestoreRefused(message.replace(/\barchive\b/g, 'backup'), { cause: error })
  if (/stream was destroyed|premature close|closed before ending/i.test(message))
    return new RestoreRefused('The backup is damaged or cut off.', { cause: error })
  return said(error)
}

function said(error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EEXIST' || code === 'ENOTDIR' || code === 'EISDIR') return new RestoreRefused('The backup holds two things of one name.')
  if (code === 'ENOSPC') return new RestoreRefused('There is not enough room on the disk for what is in this backup.')
  return error instanceof Error ? error : new Error(String(error))
}

const sha = (text: string): string => createHash('sha256').update(text).digest('hex')

// oxlint-disable-next-line no-control-regex -- that is what is taken out
const printable = (name: string): string => name.slice(0, 200).replace(/[\u0000-\u001f\u007f-\u009f]/g, '�')
