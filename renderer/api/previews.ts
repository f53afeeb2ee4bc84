import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAction } from './actions.ts'
import type { Answer } from './client.ts'
import { keys } from './keys.ts'
import { useOffered } from './offered.ts'
import { look_again_ms, useClient } from './queries.ts'

/** The open previews of a project, the newest change first. */
export function usePreviews(slug: string) {
  const client = useClient()
  return useQuery({
    queryKey: keys.previews(slug),
    queryFn: async ({ signal }) => (await client.call('listPreviews', { params: { slug }, signal })).previews,
    // Visits and sleep come with no event.
    refetchInterval: look_again_ms,
  })
}

/** How the repository is watched; null on an instance that does not tell (a hosted one). */
export function useWatching(slug: string) {
  const client = useClient()
  const { is_known, instance } = useOffered()
  return useQuery({
    queryKey: keys.watching(slug),
    enabled: is_known,
    queryFn: async ({ signal }) => (instance ? (await client.call('getWatching', { params: { slug }, signal })).watching : null),
    refetchInterval: look_again_ms,
  })
}

/** Changes what a push does. */
export function useChangeWatching(slug: string) {
  return useAction('updateWatching', { onDone: useTakenIn(slug) })
}

/** Looks at the repository at once. */
export function useCheckRepository(slug: string) {
  return useAction('checkRepository', { done: 'Looked at the repository.', onDone: useTakenIn(slug) })
}

/** Both answer with how it is watched from then on. */
function useTakenIn(slug: string): (answer: Answer<'getWatching'>) => void {
  const cache = useQueryClient()
  return ({ watching }) => {
    cache.setQueryData(keys.watching(slug), watching)
    void cache.invalidateQueries({ queryKey: keys.previews(slug) })
  }
}
