import { createHash } from 'node:crypto'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FileSlice } from '../response.ts'
import { edgeLimits } from '../limits.ts'
import { cacheControlFor, contentTypeOf, isCompressible, type ContentCoding } from './headers.ts'

/** A file as of its last check. */
export interface StaticFile {
  /** The real path, with links resolved. */
  path: string
  size: number
  modified_ms: number
  /** Without quotes; a content coding adds a suffix. */
  etag: string
  type: string
  isCompressible: boolean
  cache_control: string
  /** The whole content if the file is small. */
  content: Buffer | null
  compressed: Partial<Record<ContentCoding, Promise<Buffer | null>>>
  checked_ms: number
  /** Its size in memory. */
  memory_bytes: number
}

/** Recently used files in memory, limited in total bytes and shared by all sites. */
export interface StaticFileCache {
  /** The file if it is cached and was checked within the last second. Never waits. */
  getFresh(path: string): StaticFile | undefined
  get(path: string): Promise<StaticFile | undefined>
  /** The content in a coding, or null if compressing is not worthwhile. */
  getCompressed(file: StaticFile, coding: ContentCoding): Promise<Buffer | null>
}

const compress = {
  // Quality 5 costs about as much as gzip and is about 10 % smaller; 11 would take seconds for a bundle.
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 6 }),
} satisfies Record<ContentCoding, (bytes: Buffer) => Promise<Buffer>>

export function createStaticFileCache(now: () => number, total_bytes: number = edgeLimits.file_cache_bytes): StaticFileCache {
  const files = new Map<string, StaticFile>()
  const loading = new Map<string, Promise<StaticFile | undefined>>()
  let cached_bytes = 0

  return {
    getFresh(path) {
      const file = files.get(path)
      return file && now() - file.checked_ms < edgeLimits.file_revalidate_ms ? file : undefined
    },
    async get(path) {
      const cached = files.get(path)
      if (cached && now() - cached.checked_ms < edgeLimits.file_revalidate_ms) return cached
      if (cached) {
        // A deployment's files do not change, but those of a folder that is served in place may.
        const stats = await stat(path).catch(() => undefined)
        if (stats?.isFile() && stats.size === cached.size && stats.mtimeMs === cached.modified_ms) {
          cached.checked_ms = now()
          markUsed(cached)
          return cached
        }
        evict(cached)
      }
      const pendingLoad = loading.get(path)
      if (pendingLoad) return pendingLoad
      const load = loadFile(path, now()).finally(() => loading.delete(path))
      loading.set(path, load)
      const file = await load
      if (file) add(file)
      return file
    },
    async getCompressed(file, coding) {
      if (!file.isCompressible || file.size < edgeLimits.compress_min_bytes || file.size > edgeLimits.compress_max_bytes) return null
      file.compressed[coding] ??= compressFile(file, coding)
      return file.compressed[coding]
    },
  }

  async function compressFile(file: StaticFile, coding: ContentCoding): Promise<Buffer | null> {
    const content = file.content ?? (await readWholeFile(file.path, file.size))
    if (content === null) return null
    const compressed = await compress[coding](content)
    if (compressed.length >= content.length) return null
    if (files.get(file.path) === file) {
      file.memory_bytes += compressed.length
      cached_bytes += compressed.length
      evictOverLimit()
    }
    return compressed
  }

  function add(file: StaticFile): void {
    const previous = files.get(file.path)
    if (previous) evict(previous)
    files.set(file.path, file)
    cached_bytes += file.memory_bytes
    evictOverLimit()
  }

  function markUsed(file: StaticFile): void {
    files.delete(file.path)
    files.set(file.path, file)
  }

  function evict(file: StaticFile): void {
    if (files.get(file.path) !== file) return
    files.delete(file.path)
    cached_bytes -= file.memory_bytes
  }

  function evictOverLimit(): void {
    for (const file of files.values()) {
      if (cached_bytes <= total_bytes) return
      evict(file)
    }
  }
}

async function loadFile(path: string, now: number): Promise<StaticFile | undefined> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, 'r')
    const stats = await handle.stat()
    if (!stats.isFile()) return undefined
    const content = stats.size <= edgeLimits.cached_file_bytes ? await handle.readFile() : null
    const type = contentTypeOf(path)
    return {
      path,
      size: content ? content.length : stats.size,
      modified_ms: stats.mtimeMs,
      // A hash of the content if it is in memory. It stays the same across rebuilds that change nothing.
      etag: content
        ? createHash('sha1').update(content).digest('base64url').slice(0, 22)
        : `${stats.size.toString(36)}-${Math.round(stats.mtimeMs * 1000).toString(36)}`,
      type,
      isCompressible: isCompressible(type),
      cache_control: cacheControlFor(path),
      content,
      compressed: {},
      checked_ms: now,
      memory_bytes: (content?.length ?? 0) + 1024,
    }
  } catch {
    return undefined
  } finally {
    await handle?.close()
  }
}

async function readWholeFile(path: string, size: number): Promise<Buffer | null> {
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

/** A part of a file that is too large to be cached. */
export async function openFileSlice(path: string, start: number, end: number): Promise<FileSlice | undefined> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (handle === undefined) return undefined
  return {
    start,
    end,
    read: async (buffer, position, length) => (await handle.read(buffer, 0, length, position)).bytesRead,
    close: () => void handle.close().catch(() => {}),
  }
}
