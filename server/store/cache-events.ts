import type { CacheEvent } from '../contract/cache.ts'
import { all, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { CacheEventRow } from './tables.ts'

/** The number of events kept per project; older ones are deleted. */
const maxEventsPerProject = 1000
/** Longer lists of URLs are truncated, because the log is meant to be read. */
const maxUrlList_bytes = 32 * 1024

const deleteOldEvents = run((projectId: string) =>
  tables
    .deleteFrom('cache_events')
    .where('project_id', '=', projectId)
    .where('seq', '<=', (eb) =>
      eb.selectFrom('cache_events').select('seq').where('project_id', '=', projectId).orderBy('seq', 'desc').limit(1).offset(maxEventsPerProject),
    ),
)
const listEventsBefore = all((projectId: string, before: number, limit: number) =>
  tables.selectFrom('cache_events').selectAll().where('project_id', '=', projectId).where('seq', '<', before).orderBy('seq', 'desc').limit(limit),
)

export function insertCacheEvent(tx: Tx, projectId: string, event: CacheEvent): void {
  const { tags, urls, ...plain } = event
  tx.run(
    tables
      .insertInto('cache_events')
      .values({ ...plain, project_id: projectId, tags: JSON.stringify(tags), urls: JSON.stringify(truncateUrls(urls)) }),
  )
  deleteOldEvents(tx, projectId)
}

/** Newest first, from before `before` (a sequence number). */
export function listCacheEvents(tx: Tx, options: { project_id: string; before: number | undefined; limit: number }): CacheEventRow[] {
  return listEventsBefore(tx, options.project_id, options.before ?? Number.MAX_SAFE_INTEGER, options.limit)
}

function truncateUrls(urls: string[]): string[] {
  let bytes = 0
  return urls.filter((url) => (bytes += Buffer.byteLength(url)) <= maxUrlList_bytes)
}
