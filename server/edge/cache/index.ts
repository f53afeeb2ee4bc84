import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { CacheOptions, EdgeCache } from '../edge.ts'
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

  const shelf = createShelf((entry) => drop(entry))
  const drop = (entry: Entry): void => entry.slot.project.drop(entry)

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
    if (found === undefined) projects.set(id, (found = new ProjectStore(id, shelf, bury)))
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
      if (cache) shelf.fit(cache.memory_bytes())
    },
    load: async () => false,
  }

  return {
    of(projectId) {
      if (!cache) return null
      const known = new Map<string, HostCache>()
      return (encrypted, host) => {
        const origin = `${encrypted ? 'https' : 'http'}://${host.toLowerCase()}`
        let found = known.get(origin)
        if (found === undefined) {
          // Anybody may ask by as many ports as there are.
          if (known.size > 100) known.clear()
          known.set(origin, (found = new HostCache(commons, project(projectId), origin)))
        }
        return found
      }
    },
    async purge(projectId, what) {
      return projects.get(projectId)?.purge(what) ?? 0
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
      if (!enabled) found.purge({ all: true })
    },
    async forget(projectId) {
      projects.get(projectId)?.purge({ all: true })
      projects.delete(projectId)
    },
  }
}
