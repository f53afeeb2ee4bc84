import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { isFound, wordsOf } from '../../server/contract/find-project.ts'
import type { Project } from '../../server/contract/projects.ts'
import { keys } from './keys.ts'
import { useOffered } from './offered.ts'
import { look_again_ms, useClient, useProjects } from './queries.ts'

/**
 * The projects that fit what somebody looks for, newest first; all that are here without a word. What is not here yet the platform
 * searches; one that only lists (a hosted account) brings all of them instead, beginning when `isSoon`: somebody is about to type.
 */
export function useFoundProjects(query: string, isSoon = false) {
  const client = useClient()
  const offered = useOffered()
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useProjects()
  const words = useMemo(() => wordsOf(query), [query])
  const isSearch = words.length > 0
  const asks = isSearch && hasNextPage && offered.instance
  const found = useQuery({
    queryKey: keys.found(words),
    enabled: asks,
    queryFn: ({ signal }) => inTurn(signal, () => client.call('findProjects', { query: { q: words.join(' ') } })),
    placeholderData: keepPreviousData,
    staleTime: look_again_ms,
    // What is not here is not kept true by the stream.
    refetchInterval: look_again_ms,
    retry: false,
  })

  const bringsAll = (isSearch || isSoon) && (!offered.instance || found.isError)
  useEffect(() => {
    if (bringsAll && hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }, [bringsAll, hasNextPage, isFetchingNextPage, error, fetchNextPage])

  const all = useMemo(() => data?.pages.flatMap((page) => page.projects) ?? [], [data])
  const elsewhere = asks ? found.data?.projects : undefined
  const shown = useMemo(() => {
    if (words.length === 0) return all
    const fitting = new Map<string, Project>()
    for (const project of elsewhere ?? []) if (isFound(project, words)) fitting.set(project.id, project)
    // What is here is newer than any answer.
    for (const project of all) if (isFound(project, words)) fitting.set(project.id, project)
    const projects = [...fitting.values()]
    return elsewhere ? projects.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)) : projects
  }, [all, elsewhere, words])

  const told = asks && !found.isPlaceholderData ? found.data : undefined
  return {
    // Named one by one: whoever takes all of a query is drawn anew at every turn of it, those included that changed nothing.
    data,
    error,
    isPending,
    hasNextPage,
    isFetchingNextPage,
    fetchNextPage,
    refetch,
    all,
    shown,
    is_search: isSearch,
    /** Whether more may yet be found. */
    is_searching: isSearch && hasNextPage && !told,
    /** How many fit, and of how many, as far as that is known. */
    count: told?.count ?? shown.length,
    total: told?.total ?? all.length,
  }
}

const turn_ms = 500
let lastSearch: Promise<unknown> = Promise.resolve()

/** One search after the other, and none for words that were typed over meanwhile: the platform would work through them all. */
function inTurn<Answer>(signal: AbortSignal, search: () => Promise<Answer>): Promise<Answer> {
  const own = lastSearch.then(() => {
    signal.throwIfAborted()
    return search()
  })
  // Nobody waits for one that hangs.
  lastSearch = Promise.race([own.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, turn_ms))])
  return own
}
