import type { PurgeKind, PurgeSource } from '../contract/cache.ts'
import { Problem, type Issue } from '../contract/errors.ts'
import type { EdgeCache, PurgeScope } from '../edge/edge.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { Bus } from '../lib/bus.ts'
import { newId } from '../lib/id.ts'
import { hashSecret, sameSecret } from '../lib/token.ts'
import { insertCacheEvent } from '../store/cache-events.ts'
import type { Db, Tx } from '../store/open.ts'
import { findProject, findProjectBySlug } from '../store/projects.ts'
import { findPurgeToken } from '../store/purge-tokens.ts'
import { addressIn, namesOf } from './address.ts'

export type { PurgeScope } from '../edge/edge.ts'

export interface Purge {
  /** Takes out what is stored of a project and notes it; resolves with how many once no request can get them any more. */
  (projectId: string, what: PurgeScope, source: PurgeSource): Promise<number>
}

export interface PurgeParts {
  db: Db
  cache: Pick<EdgeCache, 'purge'>
  clock: Clock
  bus: Bus
}

export function createPurge({ db, cache, clock, bus }: PurgeParts): Purge {
  return async (projectId, what, source) => {
    const scope = 'urls' in what ? { urls: await db.read((tx) => addressesOf(tx, projectId, what.urls)) } : what
    const purged = await cache.purge(projectId, scope).catch((cause: unknown) => {
      throw new Problem('cache_purge_failed', 'The cache could not be emptied: its disk refused. Look at the disk of the instance and try again.', {
        cause,
      })
    })
    const [tags, urls] = ['tags' in what ? [...what.tags] : [], 'urls' in what ? [...what.urls] : []]
    await db.write((tx) => noteCacheEvent(tx, { project_id: projectId, kind: kindOf(what), tags, urls, purged, source, now: clock.now() }))
    bus.emit(`project:${projectId}`)
    return purged
  }
}

export interface CacheNote {
  project_id: string
  kind: PurgeKind
  tags: string[]
  urls: string[]
  purged: number
  source: PurgeSource
  now: number
}

export function noteCacheEvent(tx: Tx, { project_id, now, ...event }: CacheNote): void {
  // A project that was deleted meanwhile has no log any more.
  if (findProject(tx, project_id)) insertCacheEvent(tx, project_id, { ...event, id: newId('evt'), created_at: isoTime(now) })
}

/** The project that a purge token opens. A slug that nobody has takes as long as a wrong token. */
export function createPurgeTokenLookup(db: Db) {
  return async (slug: string, token: string): Promise<string | undefined> => {
    const found = await db.read((tx) => {
      const project = findProjectBySlug(tx, slug)
      return { id: project?.id, hash: findPurgeToken(tx, project?.id ?? '') }
    })
    const matches = sameSecret(found.hash ?? '', hashSecret(token))
    return matches ? found.id : undefined
  }
}

const kindOf = (what: PurgeScope): PurgeKind => ('tags' in what ? 'purge_tags' : 'urls' in what ? 'purge_urls' : 'purge_all')

/** Addresses as the edge takes them; 400 names each that is none of this project. */
function addressesOf(tx: Tx, projectId: string, urls: readonly string[]): string[] {
  const names = namesOf(tx, projectId)
  const issues: Issue[] = []
  const addresses = urls.map((url, i) => {
    const found = addressIn(url, names)
    if ('fault' in found) issues.push({ path: `urls.${i}`, message: found.fault })
    else return found.host === undefined ? found.target : `http://${found.host}${found.target}`
    return ''
  })
  if (issues.length > 0) throw new Problem('invalid_input', `The body is not in order. ${issues[0]?.path}: ${issues[0]?.message}`, { issues })
  return addresses
}
