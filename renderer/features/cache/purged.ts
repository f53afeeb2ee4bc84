import { useQueryClient } from '@tanstack/react-query'
import { askAnew } from '../../api/cache.ts'
import { keys } from '../../api/keys.ts'

/** After a purge the log and the figures are others. */
export function usePurged(slug: string): () => void {
  const cache = useQueryClient()
  return () => {
    askAnew(cache, keys.cacheEvents(slug))
    void cache.invalidateQueries({ queryKey: ['metrics', slug] })
  }
}

/** What a purge did, for a toast. */
export function purgedWords(count: number): string {
  return count === 0 ? 'Done: nothing was stored of it.' : `${count.toLocaleString()} stored ${count === 1 ? 'answer is' : 'answers are'} out.`
}
