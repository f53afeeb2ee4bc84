import type { PurgeKind, PurgeSource } from '../contract/cache.ts'
import { Problem, type ValidationIssue } from '../contract/errors.ts'
import type { EdgeCache, PurgeScope } from '../edge/edge.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashSecret, isSameSecret } from '../lib/token.ts'
import { recordProjectActivity } from '../store/activity.ts'
import { insertCacheEvent } from '../store/cache-events.ts'
import type { Db, Tx } from '../store/store.ts'
import { findProject, findProjectBySlug } from '../store/projects.ts'
import { findPurgeTokenHash } from '../store/purge-tokens.ts'
import { parseProjectUrl, listProductionHostnames } from './project-url.ts'

export type { PurgeScope } from '../edge/edge.ts'

export interface CachePurger {
  /** Purges cached responses of a project and logs the purge. Resolves with their number when no request can get them any more. */
  (projectId: string, requested: PurgeScope, source: PurgeSource): Promise<number>
}

export interface CachePurgerDeps {
  db: Db
  cache: Pick<EdgeCache, 'purge'>
  clock: Clock
  apps_domain: string | null
}

export function createCachePurger({ db, cache, clock, apps_domain }: CachePurgerDeps): CachePurger {
  return async (projectId, requested, source) => {
    const scope = 'urls' in requested ? { urls: await db.read((tx) => resolvePurgeTargets(tx, projectId, requested.urls, apps_domain)) } : requested
    const purged = await cache.purge(projectId, scope).catch((cause: unknown) => {
      throw new Problem(
        'cache_purge_failed',
        'The cache could not be purged because of a disk error. Check the disk of the instance and try again.',
        {
          cause,
        },
      )
    })
    const [tags, urls] = ['tags' in requested ? [...requested.tags] : [], 'urls' in requested ? [...requested.urls] : []]
    await db.write((tx) => {
      recordCacheEvent(tx, { project_id: projectId, kind: purgeKindOf(requested), tags, urls, purged, source, now: clock.now() })
      const project = source === 'webhook' ? findProject(tx, projectId) : undefined
      if (project) recordProjectActivity(tx, isoTime(clock.now()), project, { action: 'cache.purged', actor_kind: 'push', actor_name: 'A webhook' })
      tx.publish({ type: 'project_changed', id: projectId })
    })
    return purged
  }
}

export interface NewCacheEvent {
  project_id: string
  kind: PurgeKind
  tags: string[]
  urls: string[]
  purged: number
  source: PurgeSource
  now: number
}

export function recordCacheEvent(tx: Tx, { project_id, now, ...event }: NewCacheEvent): void {
  // The project may have been deleted in the meantime.
  if (findProject(tx, project_id)) insertCacheEvent(tx, project_id, { ...event, id: newId('evt'), created_at: isoTime(now) })
}

/** The project of a purge token. An unknown slug takes as long as a wrong token. */
export function createPurgeTokenLookup(db: Db) {
  return async (slug: string, token: string): Promise<string | undefined> => {
    const match = await db.read((tx) => {
      const project = findProjectBySlug(tx, slug)
      return { id: project?.id, hash: findPurgeTokenHash(tx, project?.id ?? '') }
    })
    const matches = isSameSecret(match.hash ?? '', hashSecret(token))
    return matches ? match.id : undefined
  }
}

const purgeKindOf = (requested: PurgeScope): PurgeKind => ('tags' in requested ? 'purge_tags' : 'urls' in requested ? 'purge_urls' : 'purge_all')

/** Converts URLs for the edge. Throws a 400 that names each URL outside this project. */
function resolvePurgeTargets(tx: Tx, projectId: string, urls: readonly string[], appsDomain: string | null): string[] {
  const project = findProject(tx, projectId)
  const names = project ? listProductionHostnames(tx, project, appsDomain) : []
  const issues: ValidationIssue[] = []
  const addresses = urls.map((url, i) => {
    const match = parseProjectUrl(url, names)
    if ('error' in match) issues.push({ path: `urls.${i}`, message: match.error })
    else return match.host === undefined ? match.target : `http://${match.host}${match.target}`
    return ''
  })
  if (issues.length > 0) throw new Problem('invalid_input', `The body is invalid. ${issues[0]?.path}: ${issues[0]?.message}`, { issues })
  return addresses
}
