import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { CacheEntry } from './entry.ts'
import { DiskSegment, type IndexRecord } from './disk-segment.ts'
import type { ProjectCache } from './project-cache.ts'
import type { PurgeScope } from '../edge.ts'

/**
 * The disk tier stores responses in one folder per project, in append-only segments. A response in an index is complete; a response that a crash cut
 * off is in no index. Purges are recorded in the same index, so that purged responses do not return after a restart.
 */
export interface CacheDiskTier {
  /** Loads the index of a project, once. Look-ups before that find nothing. */
  load(project: ProjectCache): Promise<void>
  /** Queues a response for writing. If the disk is too slow, the response stays in memory only. */
  enqueueWrite(project: ProjectCache, entry: CacheEntry): void
  /** Reads the bytes of a response. False: they are missing or damaged. */
  readEntry(entry: CacheEntry): Promise<boolean>
  /** Makes a purge durable before it is reported as done. */
  purge(project: ProjectCache, scope: PurgeScope): void
  /** Invalidates one response. `isPersistent`: the removal is recorded so that it survives a restart; otherwise a purge records it. */
  forget(entry: CacheEntry, isPersistent: boolean): void
  removeProject(projectId: string): Promise<void>
  /** Waits for pending writes. */
  close(): Promise<void>
}

/** A response with a shorter lifetime would expire before a restart is complete. */
const min_lifetime_ms = 10_000
const max_pending_bytes = 32 * 2 ** 20
/** The keys of responses on disk take memory. Above this number the oldest segments are removed. */
const maxEntries = 200_000

const isWorthStoring = ({ policy: terms, stored_ms }: CacheEntry): boolean =>
  !terms.validate &&
  terms.born_ms +
    (terms.lifetime_s + Math.max(terms.stale_while_revalidate_s, terms.explicit_stale_if_error ? terms.stale_if_error_s : 0)) * 1000 -
    stored_ms >=
    min_lifetime_ms

const batch_bytes = 2 ** 20

/** A response that is queued for writing. */
interface PendingWrite {
  project: ProjectCache
  entry: CacheEntry
  parts: Buffer[]
  length: number
}

const indexRecordOf = (entry: CacheEntry, offset: number, length: number, checksum: number): IndexRecord => ({
  origin: entry.urlEntry.origin,
  target: entry.urlEntry.target,
  variant: entry.variant,
  status: entry.status,
  tags: entry.tags,
  terms: entry.policy,
  stored_ms: entry.stored_ms,
  part: entry.part,
  offset,
  length,
  lines_end: entry.lines_end,
  checksum,
})

interface ProjectFolder {
  path: string
  segments: DiskSegment<CacheEntry>[]
  current: DiskSegment<CacheEntry> | null
  next: number
  loading: Promise<void> | null
}

export function createDiskTier(directory: string, limit: () => number, clock: Clock, log: Log): CacheDiskTier {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const folders = new Map<string, ProjectFolder>()
  const folderBySegment = new WeakMap<DiskSegment<CacheEntry>, ProjectFolder>()
  const pendingWrites: PendingWrite[] = []
  let writing: Promise<void> | null = null
  let queued_bytes = 0
  let entryCount = 0
  let removedFolders = 0
  let hasWarned = false

  for (const name of readdirSync(directory)) {
    if (!/^[\w-]+$/.test(name)) void rm(join(directory, name), { recursive: true, force: true })
    else folders.set(name, open(name))
  }

  function open(id: string): ProjectFolder {
    const path = join(directory, id)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const folder: ProjectFolder = { path, segments: [], current: null, next: 1, loading: null }
    for (const file of readdirSync(path).sort()) {
      const found = /^(\d{8})\.index$/.exec(file)
      if (!found) continue
      const index = statSync(join(path, file))
      const data = statSync(join(path, `${found[1]}.data`), { throwIfNoEntry: false })
      const segment = new DiskSegment<CacheEntry>(path, Number(found[1]), index.mtimeMs)
      segment.bytes = index.size + (data?.size ?? 0)
      folder.segments.push(segment)
      folderBySegment.set(segment, folder)
      folder.next = segment.number + 1
    }
    return folder
  }

  const folderOf = (id: string): ProjectFolder | undefined => {
    if (!/^[\w-]+$/.test(id)) return undefined
    const found = folders.get(id) ?? open(id)
    folders.set(id, found)
    return found
  }

  /** The segment to write to, with room for `bytes` bytes; null takes the current one. */
  const segmentOf = (folder: ProjectFolder, bytes: number | null): DiskSegment<CacheEntry> => {
    const max_segment_bytes = Math.max(64 * 1024, Math.min(16 * 2 ** 20, limit() / 16))
    if (folder.current && bytes !== null && folder.current.bytes > 0 && folder.current.bytes + bytes > max_segment_bytes) {
      folder.current.seal()
      folder.current = null
      removeEmptySegments(folder)
    }
    if (folder.current === null) {
      folder.current = new DiskSegment<CacheEntry>(folder.path, folder.next++, clock.now()).create()
      folder.segments.push(folder.current)
      folderBySegment.set(folder.current, folder)
    }
    return folder.current
  }

  /** Removes segments without valid responses, oldest first, because a purge record in a segment applies to the segments before it. */
  const removeEmptySegments = (folder: ProjectFolder): void => {
    for (const segment of folder.segments) {
      if (segment.liveCount > 0 || segment === folder.current) return
      removeSegment(folder, segment)
    }
  }

  /** Deletes a segment and the responses that exist only in it. */
  const removeSegment = (folder: ProjectFolder, segment: DiskSegment<CacheEntry>): void => {
    if (folder.current === segment) folder.current = null
    folder.segments = folder.segments.filter((other) => other !== segment)
    for (const entry of segment.entries) {
      if (entry.diskLocation?.segment !== segment) continue
      entry.diskLocation = null
      entryCount--
      if (entry.serialized === null && !entry.isRemoved) entry.urlEntry.project.removeEntry(entry, false)
    }
    segment.entries = []
    void segment.remove()
  }

  const evictOverLimit = (): void => {
    for (;;) {
      let total = 0
      let oldest: DiskSegment<CacheEntry> | undefined
      for (const folder of folders.values())
        for (const segment of folder.segments) {
          total += segment.bytes
          if (oldest === undefined || segment.created_ms < oldest.created_ms) oldest = segment
        }
      if (oldest === undefined || (total <= limit() && entryCount <= maxEntries)) return
      const folder = folderBySegment.get(oldest)
      if (!folder) return
      removeSegment(folder, oldest)
    }
  }

  const trackEntry = (segment: DiskSegment<CacheEntry>, entry: CacheEntry, offset: number, checksum: number): void => {
    entry.diskLocation = { segment, offset, checksum, length: entry.lines_end + entry.body_length }
    segment.entries.push(entry)
    segment.liveCount++
    entryCount++
  }

  /** Writes the queued responses of one project in one write of up to `batch_bytes`, except those that were purged meanwhile. */
  const writeBatch = async (): Promise<void> => {
    const [first] = pendingWrites
    if (first === undefined) return
    let count = 0
    let bytes = 0
    for (const pendingWrite of pendingWrites) {
      if (pendingWrite.project !== first.project || (count > 0 && bytes + pendingWrite.length > batch_bytes)) break
      count++
      bytes += pendingWrite.length
    }
    const batch = pendingWrites.splice(0, count)
    try {
      await folderOf(first.project.id)?.loading
      // Looked up only now, because a purge of everything replaces the folder.
      const folder = folderOf(first.project.id)
      if (!folder || limit() === 0) return
      const current = batch.filter(({ project, entry }) => !project.isRemoved(entry))
      if (current.length === 0) return
      const segment = segmentOf(folder, bytes)
      const start = await segment.write(Buffer.concat(current.flatMap(({ parts }) => parts)))
      if (!folder.segments.includes(segment)) return
      const records: IndexRecord[] = []
      let offset = start
      for (const { project, entry, parts, length } of current) {
        const checksum = parts.reduce((sum, part) => crc32(part, sum), 0)
        if (!project.isRemoved(entry)) {
          records.push(indexRecordOf(entry, offset, length, checksum))
          trackEntry(segment, entry, offset, checksum)
        }
        offset += length
      }
      // Nothing may run between the check for removals and this call, so that a purge comes before both or after both.
      segment.appendRecords(...records)
      evictOverLimit()
    } finally {
      queued_bytes -= bytes
      for (const { entry } of batch) finishWrite(entry)
    }
  }

  /** Frees an entry that memory had already evicted and that was only kept for this write. */
  const finishWrite = (entry: CacheEntry): void => {
    entry.isWritePending = false
    if (entry.counted_bytes > 0 || entry.isRemoved || entry.serialized === null) return
    if (entry.diskLocation === null) entry.urlEntry.project.removeEntry(entry, false)
    else if (entry.pins === 0) entry.serialized = null
  }

  const writeAll = async (): Promise<void> => {
    while (pendingWrites.length > 0)
      await writeBatch().catch((error: unknown) => {
        if (!hasWarned) log.warn('edge.cache_write_failed', { error })
        hasWarned = true
      })
    writing = null
  }

  return {
    load(project) {
      const folder = folderOf(project.id)
      if (!folder) return Promise.resolve()
      return (folder.loading ??= replay(project, folder))
    },
    enqueueWrite(project, entry) {
      if (entry.serialized === null || !isWorthStoring(entry)) return
      const parts = [entry.serialized.subarray(0, entry.lines_end), entry.body]
      const length = entry.lines_end + entry.body_length
      if (length > limit() / 4) return
      if (queued_bytes + length > max_pending_bytes) return
      queued_bytes += length
      entry.isWritePending = true
      pendingWrites.push({ project, entry, parts, length })
      writing ??= Promise.resolve().then(writeAll)
    },
    async readEntry(entry) {
      const location = entry.diskLocation
      if (location === null) return false
      try {
        const bytes = await location.segment.read(location.offset, location.length)
        if (crc32(bytes) !== location.checksum) throw new Error('a stored response does not match its checksum')
        if (!entry.isRemoved && entry.serialized === null) entry.load(bytes, entry.lines_end)
        return !entry.isRemoved
      } catch (error) {
        log.warn('edge.cache_read_failed', { error })
        return false
      }
    },
    purge(project, scope) {
      const folder = folderOf(project.id)
      if (!folder || folder.segments.length === 0) return
      if ('all' in scope) void discardProject(project.id, folder)
      else segmentOf(folder, null).appendRecords('tags' in scope ? { gone_tags: scope.tags } : { gone_urls: scope.urls })
    },
    forget(entry, isPersistent) {
      const location = entry.diskLocation
      if (location === null) return
      entry.diskLocation = null
      entryCount--
      location.segment.liveCount--
      const folder = folderBySegment.get(location.segment)
      if (!folder?.segments.includes(location.segment)) return
      const { urlEntry, variant } = entry
      try {
        if (isPersistent) segmentOf(folder, null).appendRecords({ gone_origin: urlEntry.origin, gone_target: urlEntry.target, gone_variant: variant })
      } catch (error) {
        log.warn('edge.cache_write_failed', { error })
      }
      if (location.segment.liveCount === 0) removeEmptySegments(folder)
    },
    async removeProject(projectId) {
      const folder = folderOf(projectId)
      if (!folder) return
      await discardProject(projectId, folder)
      folders.delete(projectId)
      await rm(join(directory, projectId), { recursive: true, force: true })
    },
    async close() {
      await writing
      for (const folder of folders.values()) for (const segment of folder.segments) segment.close()
    },
  }
  /** Discards everything of a project: moved away at once by a rename, then deleted in the background. */
  function discardProject(id: string, folder: ProjectFolder): Promise<void> {
    folders.delete(id)
    for (const segment of folder.segments) {
      segment.close()
      for (const entry of segment.entries) if (entry.diskLocation?.segment === segment) entry.diskLocation = null
      entryCount -= segment.liveCount
      segment.entries = []
    }
    folder.segments = []
    folder.current = null
    const trashPath = join(directory, `.gone-${process.pid}-${clock.now()}-${removedFolders++}`)
    renameSync(folder.path, trashPath)
    const emptyFolder = open(id)
    emptyFolder.loading = Promise.resolve()
    folders.set(id, emptyFolder)
    return rm(trashPath, { recursive: true, force: true }).catch(() => {})
  }

  async function replay(project: ProjectCache, folder: ProjectFolder): Promise<void> {
    for (const segment of folder.segments) {
      for (const record of await segment.readRecords()) {
        if ('gone_tags' in record) project.purge({ tags: record.gone_tags })
        else if ('gone_urls' in record) project.purge({ urls: record.gone_urls })
        else if ('gone_origin' in record) {
          const old = project.find(record.gone_origin, record.gone_target)?.get(record.gone_variant)
          if (old?.serialized === null) project.removeEntry(old, false)
        } else if (!project.wasInvalidatedWhileLoading(record.origin, record.target)) {
          const urlEntry = project.ensureUrlEntry(record.origin, record.target)
          const existing = urlEntry.get(record.variant)
          // A response that was stored after loading began is newer than the one on disk.
          if (existing && existing.serialized !== null) continue
          const entry = new CacheEntry(
            urlEntry,
            record.variant,
            record.tags,
            record.status,
            record.terms,
            record.stored_ms,
            record.length - record.lines_end,
          )
          entry.lines_end = record.lines_end
          entry.part = record.part
          project.put(entry)
          trackEntry(segment, entry, record.offset, record.checksum)
        }
      }
    }
    const changed = project.finishLoading()
    if (changed.length > 0) segmentOf(folder, null).appendRecords({ gone_urls: changed })
    for (const segment of folder.segments) segment.entries = segment.entries.filter((entry) => entry.diskLocation?.segment === segment)
    removeEmptySegments(folder)
    evictOverLimit()
  }
}
