import type { CacheEvent } from '../contract/cache.ts'
import type { Tx } from './store.ts'
import type { CacheEventRow } from './tables.ts'

/** The number of events kept per project; older ones are deleted. */
const maxEventsPerProject = 1000
/** Longer lists of URLs are truncated, because the log is meant to be read. */
const maxUrlList_bytes = 32 * 1024

export function insertCacheEvent(tx: Tx, projectId: string, event: CacheEvent): void {
  const { tags, urls, ...plain } = event
  tx.run(
    tx.query
      .insertInto('cache_events')
      .values({ ...plain, project_id: projectId, tags: JSON.stringify(tags), urls: JSON.stringify(truncateUrls(urls)) }),
  )
  tx.sqlRun(
    `DELETE FROM cache_events WHERE project_id = ? AND seq <=
       (SELECT seq FROM cache_events WHERE project_id = ? ORDER BY seq DESC LIMIT 1 OFFSET ${maxEventsPerProject})`,
    projectId,
    projectId,
  )
}

/** Newest first, from before `before` (a sequence number). */
export function listCacheEvents(tx: Tx, options: { project_id: string; before: number | undefined; limit: number }): CacheEventRow[] {
  return tx.sqlAll(
    'SELECT * FROM cache_events WHERE project_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
    options.project_id,
    options.before ?? Number.MAX_SAFE_INTEGER,
    options.limit,
  )
}

function truncateUrls(urls: string[]): string[] {
  let bytes = 0
  return urls.filter((url) => (bytes += Buffer.byteLength(url)) <= maxUrlList_bytes)
}
