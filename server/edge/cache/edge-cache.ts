import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { CacheOptions, EdgeCache, PurgeScope } from '../edge.ts'
import { type CachedResponse, exportEntry, importEntry } from './cached-response.ts'
import { createDiskTier } from './disk-tier.ts'
import type { CacheEntry } from './entry.ts'
import { HostCache, type CacheServices } from './host-cache.ts'
import { inspectProjectCache } from './inspect.ts'
import { createEvictionQueue } from './eviction.ts'
import { ProjectCache } from './project-cache.ts'

export interface EdgeCacheOptions {
  clock: Clock
  log: Log
  dateLine(): string
  cache: CacheOptions | undefined
  /** Other workers, which have caches of their own. */
  sharing?: CacheSharing | undefined
}

/** Tells other edge workers what this one stores. */
export interface CacheSharing {
  onStored(response: CachedResponse): void
  onInvalidated(projectId: string, host: string, target: string): void
}

export interface ManagedEdgeCache extends EdgeCache {
  /** The caches of a project, by scheme and host; null if this edge does not cache. */
  forProject(projectId: string): ((encrypted: boolean, host: string) => HostCache) | null
  /** Stores a response of another worker, unless this one has a newer one. */
  addShared(response: CachedResponse): void
  /** Invalidates what is cached of one URL, as another worker did. */
  invalidate(projectId: string, host: string, target: string): void
  /** Completes pending writes. */
  close(): Promise<void>
}

/** Larger responses are forwarded without being stored. */
const max_object_bytes = 8 * 2 ** 20
/** Memory limit for all responses being fetched. Above it, responses are forwarded without being stored. */
const max_in_flight_bytes = 64 * 2 ** 20
/** Larger responses are not sent to other workers, which fetch them themselves. */
const max_shared_bytes = 256 * 2 ** 10
const hit_for_miss_ms = 60_000
/** Number of purged entries removed per batch. */
const removalBatchSize = 500

export function createEdgeCache(options: EdgeCacheOptions): ManagedEdgeCache {
  const { clock, cache, sharing } = options
  const projects = new Map<string, ProjectCache>()
  let in_flight_bytes = 0

  const disk = cache?.directory ? createDiskTier(cache.directory, () => cache.disk_bytes(), clock, options.log) : null
  const eviction = createEvictionQueue((entry) => {
    if (entry.isRemoved || (entry.diskLocation === null && !entry.isWritePending)) return entry.urlEntry.project.removeEntry(entry)
    eviction.remove(entry)
    if (entry.pins === 0 && !entry.isWritePending) entry.serialized = null
  })

  const pendingPurges: Iterator<CacheEntry>[] = []
  const deferRemoval = (entries: Iterable<CacheEntry>): void => {
    pendingPurges.push(entries[Symbol.iterator]())
    if (pendingPurges.length === 1) setImmediate(removePurged)
  }
  /** Removes purged entries in small batches, so that no request waits for it. */
  const removePurged = (): void => {
    for (let count = 0; count < removalBatchSize && pendingPurges[0]; count++) {
      const { value, done } = pendingPurges[0].next()
      if (done === true) pendingPurges.shift()
      else {
        value.isRemoved = true
        value.urlEntry.project.unlink(value)
      }
    }
    if (pendingPurges.length > 0) setImmediate(removePurged)
  }

  const projectCacheOf = (id: string): ProjectCache => {
    let existing = projects.get(id)
    if (existing === undefined) {
      projects.set(id, (existing = new ProjectCache(id, eviction, deferRemoval, (entry, lasting) => disk?.forget(entry, lasting))))
      const created = existing
      if (disk)
        disk.load(created).catch((error: unknown) => {
          created.finishLoading()
          options.log.warn('edge.cache_read_failed', { error })
        })
      else created.finishLoading()
    }
    return existing
  }

  const put = (store: ProjectCache, entry: CacheEntry): void => {
    store.put(entry)
    disk?.enqueueWrite(store, entry)
    if (cache) eviction.evictTo(cache.memory_bytes())
  }

  const services: CacheServices = {
    clock,
    max_object_bytes,
    hit_for_miss_ms,
    dateLine: options.dateLine,
    addInFlightBytes: (bytes) => void (in_flight_bytes += bytes),
    isCurrent: () => cache?.isCurrent === undefined || cache.isCurrent(),
    isInFlightFull: () => in_flight_bytes > max_in_flight_bytes,
    put(store, entry) {
      put(store, entry)
      const response = sharing && entry.stored_bytes <= max_shared_bytes ? exportEntry(store.id, entry) : null
      if (response) sharing?.onStored(response)
    },
    invalidate(store, host, target) {
      store.invalidate(host, target)
      sharing?.onInvalidated(store.id, host, target)
    },
    async loadFromDisk(entry) {
      entry.loading ??= disk?.readEntry(entry) ?? Promise.resolve(false)
      const isLoaded = await entry.loading
      entry.loading = null
      if (!isLoaded && !entry.isRemoved && entry.serialized === null) entry.urlEntry.project.removeEntry(entry)
    },
    trackInMemory(entry) {
      if (entry.isRemoved || entry.serialized === null || entry.counted_bytes > 0) return
      eviction.add(entry)
      if (cache) eviction.evictTo(cache.memory_bytes())
    },
  }

  const purge = async (projectId: string, scope: PurgeScope): Promise<number> => {
    const store = projectCacheOf(projectId)
    await disk?.load(store)
    const count = store.purge(scope)
    disk?.purge(store, scope)
    return count
  }

  return {
    forProject(projectId) {
      if (!cache) return null
      const cacheByOrigin = new Map<string, HostCache>()
      return (encrypted, host) => {
        // Keyed by the host as sent, because the app may write it into its page.
        const origin = `${encrypted ? 'https' : 'http'}://${host}`
        let existing = cacheByOrigin.get(origin)
        if (existing === undefined) {
          // Limits the map, because a client may send any port in Host.
          if (cacheByOrigin.size > 100) cacheByOrigin.clear()
          cacheByOrigin.set(origin, (existing = new HostCache(services, projectCacheOf(projectId), origin)))
        }
        return existing
      }
    },
    purge,
    async purgeHost(projectId, host) {
      const store = projectCacheOf(projectId)
      await disk?.load(store)
      store.removeHost(host)
    },
    stats(projectId) {
      const existing = projects.get(projectId)
      return { objects: existing?.objects ?? 0, bytes: existing?.bytes ?? 0 }
    },
    inspect: async (request) => inspectProjectCache(projectCacheOf(request.project_id), request, clock.now()),
    setEnabled(projectId, enabled) {
      const existing = projectCacheOf(projectId)
      if (existing.isEnabled === enabled) return
      existing.isEnabled = enabled
      if (!enabled) void purge(projectId, { all: true }).catch((error: unknown) => options.log.warn('edge.cache_purge_failed', { error }))
    },
    async removeProject(projectId) {
      projects.get(projectId)?.purge({ all: true })
      projects.delete(projectId)
      await disk?.removeProject(projectId)
    },
    addShared(response) {
      const store = projectCacheOf(response.project_id)
      if (!store.isEnabled) return
      const urlEntry = store.ensureUrlEntry(response.origin, response.target)
      const own = urlEntry.get(response.variant)
      if (own === undefined || own.isRemoved || own.stored_ms < response.stored_ms) put(store, importEntry(urlEntry, response))
    },
    invalidate: (projectId, host, target) => projectCacheOf(projectId).invalidate(host, target),
    close: async () => disk?.close(),
  }
}
