import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { Entry } from './entry.ts'
import { Segment, type Line } from './segment.ts'
import type { ProjectStore } from './store.ts'
import type { PurgeScope } from '../edge.ts'

/**
 * The second tier: stored answers in a folder for each project, in segments that only grow. What an index names is whole;
 * what a crash cut off is in none. Purges stand in the same index, so that what was purged does not come back with a restart.
 */
export interface Disk {
  /** Reads what is there of a project, once; a look-up before that finds nothing. */
  load(project: ProjectStore): Promise<void>
  /** Writes an answer, in its turn; if the disk does not keep up it stays in memory alone. */
  store(project: ProjectStore, entry: Entry): void
  /** Brings the bytes of an answer back. False: they are gone, or not what they were. */
  read(entry: Entry): Promise<boolean>
  /** Makes a purge last, before it counts as done. */
  purge(project: ProjectStore, what: PurgeScope): void
  /** One answer does not count any more. `lasting`: nor after a restart, and no purge says so. */
  forget(entry: Entry, lasting: boolean): void
  remove(projectId: string): Promise<void>
  /** Waits for what is still to be written. */
  close(): Promise<void>
}

/** What is fresh for less is gone before a restart is over. */
const worth_ms = 10_000
const pending_bytes = 32 * 2 ** 20
/** Answers that are on disk alone take memory for their names; past so many the oldest go. */
const names_most = 200_000

const isWorthIt = ({ terms, stored_ms }: Entry): boolean =>
  !terms.validate &&
  terms.born_ms +
    (terms.lifetime_s + Math.max(terms.stale_while_revalidate_s, terms.explicit_stale_if_error ? terms.stale_if_error_s : 0)) * 1000 -
    stored_ms >=
    worth_ms

const batch_bytes = 2 ** 20

/** An answer whose turn to be written has not come. */
interface Waiting {
  project: ProjectStore
  entry: Entry
  parts: Buffer[]
  length: number
}

const lineOf = (entry: Entry, offset: number, length: number, checksum: number): Line => ({
  origin: entry.slot.origin,
  target: entry.slot.target,
  variant: entry.variant,
  status: entry.status,
  tags: entry.tags,
  terms: entry.terms,
  stored_ms: entry.stored_ms,
  part: entry.part,
  offset,
  length,
  lines_end: entry.lines_end,
  checksum,
})

interface Folder {
  path: string
  segments: Segment[]
  current: Segment | null
  next: number
  loaded: Promise<void> | null
}

export function createDisk(directory: string, limit: () => number, clock: Clock, log: Log): Disk {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const folders = new Map<string, Folder>()
  const owners = new WeakMap<Segment, Folder>()
  const waiting: Waiting[] = []
  let writing: Promise<void> | null = null
  let pending = 0
  let names = 0
  let trash = 0
  let told = false

  for (const name of readdirSync(directory)) {
    if (!/^[\w-]+$/.test(name)) void rm(join(directory, name), { recursive: true, force: true })
    else folders.set(name, open(name))
  }

  function open(id: string): Folder {
    const path = join(directory, id)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const folder: Folder = { path, segments: [], current: null, next: 1, loaded: null }
    for (const file of readdirSync(path).sort()) {
      const found = /^(\d{8})\.index$/.exec(file)
      if (!found) continue
      const index = statSync(join(path, file))
      const data = statSync(join(path, `${found[1]}.data`), { throwIfNoEntry: false })
      const segment = new Segment(path, Number(found[1]), index.mtimeMs)
      segment.bytes = index.size + (data?.size ?? 0)
      folder.segments.push(segment)
      owners.set(segment, folder)
      folder.next = segment.number + 1
    }
    return folder
  }

  const folderOf = (id: string): Folder | undefined => {
    if (!/^[\w-]+$/.test(id)) return undefined
    const found = folders.get(id) ?? open(id)
    folders.set(id, found)
    return found
  }

  /** The one to write to, with room for so many bytes; null takes the one that there is. */
  const segmentOf = (folder: Folder, bytes: number | null): Segment => {
    const most = Math.max(64 * 1024, Math.min(16 * 2 ** 20, limit() / 16))
    if (folder.current && bytes !== null && folder.current.bytes > 0 && folder.current.bytes + bytes > most) {
      folder.current.seal()
      folder.current = null
      trim(folder)
    }
    if (folder.current === null) {
      folder.current = new Segment(folder.path, folder.next++, clock.now()).create()
      folder.segments.push(folder.current)
      owners.set(folder.current, folder)
    }
    return folder.current
  }

  /** Segments without anything that counts go, oldest first: purges that stand in one are about those before it. */
  const trim = (folder: Folder): void => {
    for (const segment of folder.segments) {
      if (segment.live > 0 || segment === folder.current) return
      drop(folder, segment)
    }
  }

  /** Lets go of a segment and of what is in it alone. */
  const drop = (folder: Folder, segment: Segment): void => {
    if (folder.current === segment) folder.current = null
    folder.segments = folder.segments.filter((one) => one !== segment)
    for (const entry of segment.entries) {
      if (entry.place?.segment !== segment) continue
      entry.place = null
      names--
      if (entry.wire === null && !entry.dead) entry.slot.project.drop(entry, false)
    }
    segment.entries = []
    void segment.remove()
  }

  const fit = (): void => {
    for (;;) {
      let total = 0
      let oldest: Segment | undefined
      for (const folder of folders.values())
        for (const segment of folder.segments) {
          total += segment.bytes
          if (oldest === undefined || segment.born < oldest.born) oldest = segment
        }
      if (oldest === undefined || (total <= limit() && names <= names_most)) return
      const folder = owners.get(oldest)
      if (!folder) return
      drop(folder, oldest)
    }
  }

  const keep = (segment: Segment, entry: Entry, offset: number, checksum: number): void => {
    entry.place = { segment, offset, checksum, length: entry.lines_end + entry.body_length }
    segment.entries.push(entry)
    segment.live++
    names++
  }

  /** As many as are there, up to `batch_bytes`, in one write; what was purged meanwhile is left out. */
  const writeSome = async (): Promise<void> => {
    const [first] = waiting
    if (first === undefined) return
    let count = 0
    let bytes = 0
    for (const one of waiting) {
      if (one.project !== first.project || (count > 0 && bytes + one.length > batch_bytes)) break
      count++
      bytes += one.length
    }
    const batch = waiting.splice(0, count)
    try {
      await folderOf(first.project.id)?.loaded
      // Only now: a purge of all in between has put a new one in its place.
      const folder = folderOf(first.project.id)
      if (!folder || limit() === 0) return
      const alive = batch.filter(({ project, entry }) => !project.isGone(entry))
      if (alive.length === 0) return
      const segment = segmentOf(folder, bytes)
      const start = await segment.write(Buffer.concat(alive.flatMap(({ parts }) => parts)))
      if (!folder.segments.includes(segment)) return
      const lines: Line[] = []
      let offset = start
      for (const { project, entry, parts, length } of alive) {
        const checksum = parts.reduce((sum, part) => crc32(part, sum), 0)
        if (!project.isGone(entry)) {
          lines.push(lineOf(entry, offset, length, checksum))
          keep(segment, entry, offset, checksum)
        }
        offset += length
      }
      // No step of the loop between the look at what is alive and this: a purge comes before both or after both.
      segment.note(...lines)
      fit()
    } finally {
      pending -= bytes
      for (const { entry } of batch) settle(entry)
    }
  }

  /** What memory had no more room for was only waiting to be written. */
  const settle = (entry: Entry): void => {
    entry.queued = false
    if (entry.counted > 0 || entry.dead || entry.wire === null) return
    if (entry.place === null) entry.slot.project.drop(entry, false)
    else if (entry.pins === 0) entry.wire = null
  }

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0)
      await writeSome().catch((error: unknown) => {
        if (!told) log.warn('edge.cache_not_stored', { error })
        told = true
      })
    writing = null
  }

  return {
    load(project) {
      const folder = folderOf(project.id)
      if (!folder) return Promise.resolve()
      return (folder.loaded ??= replay(project, folder))
    },
    store(project, entry) {
      if (entry.wire === null || !isWorthIt(entry)) return
      const parts = [entry.wire.subarray(0, entry.lines_end), entry.body]
      const length = entry.lines_end + entry.body_length
      if (length > limit() / 4) return
      if (pending + length > pending_bytes) return
      pending += length
      entry.queued = true
      waiting.push({ project, entry, parts, length })
      writing ??= Promise.resolve().then(writeAll)
    },
    async read(entry) {
      const at = entry.place
      if (at === null) return false
      try {
        const bytes = await at.segment.read(at.offset, at.length)
        if (crc32(bytes) !== at.checksum) throw new Error('a stored answer is not what was written')
        if (!entry.dead && entry.wire === null) entry.load(bytes, entry.lines_end)
        return !entry.dead
      } catch (error) {
        log.warn('edge.cache_not_read', { error })
        return false
      }
    },
    purge(project, what) {
      const folder = folderOf(project.id)
      if (!folder || folder.segments.length === 0) return
      if ('all' in what) void discard(project.id, folder)
      else segmentOf(folder, null).note('tags' in what ? { gone_tags: what.tags } : { gone_urls: what.urls })
    },
    forget(entry, lasting) {
      const at = entry.place
      if (at === null) return
      entry.place = null
      names--
      at.segment.live--
      const folder = owners.get(at.segment)
      if (!folder?.segments.includes(at.segment)) return
      const { slot, variant } = entry
      try {
        if (lasting) segmentOf(folder, null).note({ gone_origin: slot.origin, gone_target: slot.target, gone_variant: variant })
      } catch (error) {
        log.warn('edge.cache_not_stored', { error })
      }
      if (at.segment.live === 0) trim(folder)
    },
    async remove(projectId) {
      const folder = folderOf(projectId)
      if (!folder) return
      await discard(projectId, folder)
      folders.delete(projectId)
      await rm(join(directory, projectId), { recursive: true, force: true })
    },
    async close() {
      await writing
      for (const folder of folders.values()) for (const segment of folder.segments) segment.shut()
    },
  }
  /** All of a project: out of the way at once by one rename, off the disk by and by. */
  function discard(id: string, folder: Folder): Promise<void> {
    folders.delete(id)
    for (const segment of folder.segments) {
      segment.shut()
      for (const entry of segment.entries) if (entry.place?.segment === segment) entry.place = null
      names -= segment.live
      segment.entries = []
    }
    folder.segments = []
    folder.current = null
    const away = join(directory, `.gone-${process.pid}-${clock.now()}-${trash++}`)
    renameSync(folder.path, away)
    const fresh = open(id)
    fresh.loaded = Promise.resolve()
    folders.set(id, fresh)
    return rm(away, { recursive: true, force: true }).catch(() => {})
  }

  async function replay(project: ProjectStore, folder: Folder): Promise<void> {
    for (const segment of folder.segments) {
      for (const line of await segment.lines()) {
        if ('gone_tags' in line) project.purge({ tags: line.gone_tags })
        else if ('gone_urls' in line) project.purge({ urls: line.gone_urls })
        else if ('gone_origin' in line) {
          const old = project.find(line.gone_origin, line.gone_target)?.get(line.gone_variant)
          if (old?.wire === null) project.drop(old, false)
        } else if (!project.wasChanged(line.origin, line.target)) {
          const slot = project.slot(line.origin, line.target)
          const now = slot.get(line.variant)
          // What was stored since we began is newer than anything here.
          if (now && now.wire !== null) continue
          const entry = new Entry(slot, line.variant, line.tags, line.status, line.terms, line.stored_ms, line.length - line.lines_end)
          entry.lines_end = line.lines_end
          entry.part = line.part
          project.put(entry)
          keep(segment, entry, line.offset, line.checksum)
        }
      }
    }
    const changed = project.loaded()
    if (changed.length > 0) segmentOf(folder, null).note({ gone_urls: changed })
    for (const segment of folder.segments) segment.entries = segment.entries.filter((entry) => entry.place?.segment === segment)
    trim(folder)
    fit()
  }
}
