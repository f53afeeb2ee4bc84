import type { CacheEvent, PurgeSource } from '../contract/cache.ts'
import { limits } from '../contract/limits.ts'
import { hashSecret, newToken } from '../lib/token.ts'
import { isoTime } from '../lib/clock.ts'
import { listCacheEvents } from '../store/cache-events.ts'
import { paginate } from '../store/pagination.ts'
import { replacePurgeToken } from '../store/purge-tokens.ts'
import type { CacheEventRow } from '../store/tables.ts'
import type { Caller, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { inspectCachedUrl } from './cache-inspection.ts'
import { parseCursor } from './projects.ts'
import { recordCacheEvent } from './cache-purge.ts'

type CacheHandlers = Pick<OperationHandlers, 'createPurgeToken' | 'purgeAll' | 'purgeTags' | 'purgeUrls' | 'listCacheEvents' | 'inspectCache'>

export function createCacheHandlers(deps: FeatureDeps): CacheHandlers {
  const { db } = deps.store
  return {
    async createPurgeToken({ caller, project }) {
      const token = newToken('hpp')
      const now = deps.clock.now()
      await db.write((tx) => {
        replacePurgeToken(tx, { project_id: project.id, hash: hashSecret(token), created_at: isoTime(now) })
        recordCacheEvent(tx, { project_id: project.id, kind: 'token_rotated', tags: [], urls: [], purged: 0, source: purgeSourceOf(caller), now })
        tx.publish({ type: 'project_changed', id: project.id })
      })
      return { token, webhook_url: `${deps.instance().api_url}/hooks/cache/${project.slug}` }
    },

    async purgeAll({ caller, project }) {
      return { ok: true, purged: await deps.purge(project.id, { all: true }, purgeSourceOf(caller)) }
    },

    async purgeTags({ caller, project }, { body }) {
      return { ok: true, purged: await deps.purge(project.id, { tags: body.tags }, purgeSourceOf(caller)) }
    },

    async purgeUrls({ caller, project }, { body }) {
      return { ok: true, purged: await deps.purge(project.id, { urls: body.urls }, purgeSourceOf(caller)) }
    },

    async listCacheEvents({ project }, { query }) {
      const limit = query.limit ?? limits.page.default
      const page = await db.read((tx) => {
        const list = `cache ${project.id}`
        return paginate(list, listCacheEvents(tx, { project_id: project.id, before: parseCursor(list, query.cursor), limit: limit + 1 }), limit)
      })
      return { events: page.rows.map(presentCacheEvent), next_cursor: page.next_cursor }
    },

    async inspectCache({ project, signal }, { body }) {
      return inspectCachedUrl(deps, project, body, signal)
    },
  }
}

const purgeSourceOf = (caller: Caller): PurgeSource => (caller.via === 'session' ? 'dashboard' : 'api')

const presentCacheEvent = ({ id, kind, tags, urls, purged, source, created_at }: CacheEventRow): CacheEvent => ({
  id,
  kind,
  tags: JSON.parse(tags) as string[],
  urls: JSON.parse(urls) as string[],
  purged,
  source,
  created_at,
})
