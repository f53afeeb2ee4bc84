import { useQueryClient } from '@tanstack/react-query'
import { refetchQueries } from '../../api/query-cache.ts'
import { queryKeys } from '../../api/query-keys.ts'

/** Refetches log and statistics after a purge. */
export function useRefreshAfterPurge(slug: string): () => void {
  const cache = useQueryClient()
  return () => {
    refetchQueries(cache, queryKeys.cacheEvents(slug))
    void cache.invalidateQueries({ queryKey: ['metrics', slug] })
  }
}

/** Result of a purge, for a toast. */
export function purgeSummary(count: number): string {
  return count === 0
    ? 'Nothing to purge: no matching responses were stored.'
    : `Purged ${count.toLocaleString()} stored ${count === 1 ? 'response' : 'responses'}.`
}
