import { createHash } from 'node:crypto'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FileSlice } from './answer.ts'
import { limits } from './limits.ts'
import { cacheControl, contentType, isCompressible, type Coding } from './static-headers.ts'

/** A file as it was when it was last looked at. */
export interface StaticFile {
  /** Free of links. */
  path: string
  size: number
  modified_ms: number
  /** Without quotes; a coding adds to it. */
  tag: string
  type: string
  compressible: boolean
  cache_control: string
  /** All of it, when it is small. */
  content: Buffer | null
  codings: Partial<Record<Coding, Promise<Buffer | null>>>
  checked_ms: number
  /** What it takes in memory. */
  bytes: number
}

/** Files in memory, those used last; bounded in bytes, shared by all sites. */
export interface HotFiles {
  /** The file if it is known and was looked at within a second; never waits. */
  peek(path: string): StaticFile | undefined
  get(path: string): Promise<StaticFile | undefined>
  /** Its content in a coding, or null where that would be no gain. */
  coded(file: StaticFile, coding: Coding): Promise<Buffer | null>
}

const compress = {
  // Quality 5 costs about what gzip does and is a good tenth smaller; 11 would take seconds for a bundle.
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 6 }),
} satisfies Record<Coding, (bytes: Buffer) => Promise<Buffer>>

export function createHotFiles(now: () => number, total_bytes: number = limits.hot_total_bytes): HotFiles {
  const files = new Map<string, StaticFile>()
  const loading = new Map<string, Promise<StaticFile | undefined>>()
  let held = 0

  return {
    peek(path) {
      const file = files.get(path)
      return file && now() - file.checked_ms < limits.file_check_ms ? file : undefined
    },
    async get(path) {
      const known = files.get(path)
      if (known && now() - known.checked_ms < limits.file_check_ms) return known
      if (known) {
        // A deployment's files do not change, but a folder that is served in place may.
        const stats = await stat(path).catch(() => undefined)
        if (stats?.isFile() && stats.size === known.size && stats.mtimeMs === known.modified_ms) {
          known.checked_ms = now()
          touch(known)
          return known
        }
        drop(known)
      }
      const under_way = loading.get(path)
      if (under_way) return under_way
      const load = readFile(path, now()).finally(() => loading.delete(path))
      loading.set(path, load)
      const file = await load
      if (file) keep(file)
      return file
    },
    async coded(file, coding) {
      if (!file.compressible || file.size < limits.compress_min_bytes || file.size > limits.compress_max_bytes) return null
      file.codings[coding] ??= makeCoded(file, coding)
      return file.codings[coding]
    },
  }

  async function makeCoded(file: StaticFile, coding: Coding): Promise<Buffer | null> {
    const content = file.content ?? (await readAll(file.path, file.size))
    if (content === null) return null
    const coded = await compress[coding](content)
    if (coded.length >= content.length) return null
    if (files.get(file.path) === file) {
      file.bytes += coded.length
      held += coded.length
      trim()
    }
    return coded
  }

  function keep(file: StaticFile): void {
    const old = files.get(file.path)
    if (old) drop(old)
    files.set(file.path, file)
    held += file.bytes
    trim()
  }

  function touch(file: StaticFile): void {
    files.delete(file.path)
    files.set(file.path, file)
  }

  function drop(file: StaticFile): void {
    if (files.get(file.path) !== file) return
    files.delete(file.path)
    held -= file.bytes
  }

  function trim(): void {
    for (const file of files.values()) {
      if (held <= total_bytes) return
      drop(file)
    }
  }
}

async function readFile(path: string, now: number): Promise<StaticFile | undefined> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, 'r')
    const stats = await handle.stat()
    if (!stats.isFile()) return undefined
    const content = stats.size <= limits.hot_file_bytes ? await handle.readFile() : null
    const type = contentType(path)
    return {
      path,
      size: content ? content.length : stats.size,
      modified_ms: stats.mtimeMs,
      // The content's own hash where it is cheap: it stays the same over a rebuild that changes nothing.
      tag: content
        ? createHash('sha1').update(content).digest('base64url').slice(0, 22)
        : `${stats.size.toString(36)}-${Math.round(stats.mtimeMs * 1000).toString(36)}`,
      type,
      compressible: isCompressible(type),
      cache_control: cacheControl(path),
      content,
      codings: {},
      checked_ms: now,
      bytes: (content?.length ?? 0) + 1024,
    }
  } catch {
    return undefined
  } finally {
    await handle?.close()
  }
}

async function readAll(path: string, size: number): Promise<Buffer | null> {
  const handle = await open(path, 'r').catch(() => undefined)
  try {
    const content = await handle?.readFile()
    return content?.length === size ? content : null
  } catch {
    return null
  } finally {
    await handle?.close()
  }
}

/** A part of a file that is too large to be held. */
export async function openSlice(path: string, start: number, end: number): Promise<FileSlice | undefined> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (handle === undefined) return undefined
  return {
    start,
    end,
    read: async (buffer, position, length) => (await handle.read(buffer, 0, length, position)).bytesRead,
    close: () => void handle.close().catch(() => {}),
  }
}
