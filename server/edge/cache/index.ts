import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { CacheOptions, EdgeCache, PurgeScope } from '../edge.ts'
import { createDisk } from './disk.ts'
import type { Entry } from './entry.ts'
import { HostCache, type Commons } from './host.ts'
import { inspect } from './inspect.ts'
import { createShelf } from './shelf.ts'
import { ProjectStore } from './store.ts'

export interface CachingOptions {
  clock: Clock
  log: Log
  dateLine(): string
  cache: CacheOptions | undefined
}

export interface Caching extends EdgeCache {
  /** The caches of a project, by how a name is asked for; null when this edge stores nothing. */
  of(projectId: string): ((encrypted: boolean, host: string) => HostCache) | null
  /** Writes what is still to be written. */
  close(): Promise<void>
}

/** Larger answers are passed on and not stored. */
const object_bytes = 8 * 2 ** 20
/** Answers on their way to the store may hold so much memory altogether; past it they are passed on as they come. */
const filling_bytes = 64 * 2 ** 20
const pass_ms = 60_000
/** Dead entries put away in one go. */
const bury_count = 500

export function createCaching(options: CachingOptions): Caching {
  const { clock, cache } = options
  const projects = new Map<string, ProjectStore>()
  let filling = 0

  const disk = cache?.directory ? createDisk(cache.directory, () => cache.disk_bytes(), clock, options.log) : null
  const shelf = createShelf((entry) => {
    if (entry.dead || (entry.place === null && !entry.queued)) return entry.slot.project.drop(entry)
    shelf.remove(entry)
    if (entry.pins === 0 && !entry.queued) entry.wire = null
  })

  const graves: Iterator<Entry>[] = []
  const bury = (entries: Iterable<Entry>): void => {
    graves.push(entries[Symbol.iterator]())
    if (graves.length === 1) setImmediate(tidy)
  }
  /** What a purge has marked is taken out a little at a time, so that no request waits for it. */
  const tidy = (): void => {
    for (let count = 0; count < bury_count && graves[0]; count++) {
      const { value, done } = graves[0].next()
      if (done === true) graves.shift()
      else {
        value.dead = true
        value.slot.project.unseat(value)
      }
    }
    if (graves.length > 0) setImmediate(tidy)
  }

  const project = (id: string): ProjectStore => {
    let found = projects.get(id)
    if (found === undefined) {
      projects.set(id, (found = new ProjectStore(id, shelf, bury, (entry, lasting) => disk?.forget(entry, lasting))))
      const made = found
      if (disk)
        disk.load(made).catch((error: unknown) => {
          made.loaded()
          options.log.warn('edge.cache_not_read', { error })
        })
      else made.loaded()
    }
    return found
  }

  const commons: Commons = {
    clock,
    object_bytes,
    pass_ms,
    dateLine: options.dateLine,
    filling: (bytes) => void (filling += bytes),
    isFull: () => filling > filling_bytes,
    put(into, entry) {
      into.put(entry)
      disk?.store(into, entry)
      if (cache) shelf.fit(cache.memory_bytes())
    },
    async load(entry) {
      entry.loading ??= disk?.read(entry) ?? Promise.resolve(false)
      const is_there = await entry.loading
      entry.loading = null
      if (!is_there && !entry.dead && entry.wire === null) entry.slot.project.drop(entry)
    },
    settle(entry) {
      if (entry.dead || entry.wire === null || entry.counted > 0) return
      shelf.add(entry)
      if (cache) shelf.fit(cache.memory_bytes())
    },
  }

  const purge = async (projectId: string, what: PurgeScope): Promise<number> => {
    const from = project(projectId)
    await disk?.load(from)
    const count = from.purge(what)
    disk?.purge(from, what)
    return count
  }

  return {
    of(projectId) {
      if (!cache) return null
      const known = new Map<string, HostCache>()
      return (encrypted, host) => {
        // As it was sent, not as it is looked up: the app may write it into its page.
        const origin = `${encrypted ? 'https' : 'http'}://${host}`
        let found = known.get(origin)
        if (found === undefined) {
          // Anybody may ask by as many ports as there are.
          if (known.size > 100) known.clear()
          known.set(origin, (found = new HostCache(commons, project(projectId), origin)))
        }
        return found
      }
    },
    purge,
    async purgeName(projectId, host) {
      const from = project(projectId)
      await disk?.load(from)
      from.dropName(host)
    },
    stats(projectId) {
      const found = projects.get(projectId)
      return { objects: found?.objects ?? 0, bytes: found?.bytes ?? 0 }
    },
    inspect: (question) => inspect(project(question.project_id), question, clock.now()),
    setEnabled(projectId, enabled) {
      const found = project(projectId)
      if (found.enabled === enabled) return
      found.enabled = enabled
      if (!enabled) void purge(projectId, { all: true }).catch((error: unknown) => options.log.warn('edge.cache_not_purged', { error }))
    },
    async forget(projectId) {
      projects.get(projectId)?.purge({ all: true })
      projects.delete(projectId)
      await disk?.remove(projectId)
    },
    close: async () => disk?.close(),
  }
}
