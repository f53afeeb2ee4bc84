import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { isMatch, splitSearchWords } from '../../server/contract/project-search.ts'
import type { Project } from '../../server/contract/projects.ts'
import { queryKeys } from './query-keys.ts'
import { useCapabilities } from './capabilities.ts'
import { pollInterval_ms, useClient, useProjects } from './queries.ts'

/**
 * The projects that fit what somebody looks for, newest first; all that are here without a word. What is not here yet the platform
 * searches; one that only lists (a hosted account) brings all of them instead, beginning when `isSoon`: somebody is about to type.
 */
export function useProjectSearch(query: string, shouldPrefetch = false) {
  const client = useClient()
  const capabilities = useCapabilities()
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useProjects()
  const terms = useMemo(() => splitSearchWords(query), [query])
  const isSearch = terms.length > 0
  const isServerSearch = isSearch && hasNextPage && capabilities.has_instance_api
  const found = useQuery({
    queryKey: queryKeys.projectSearch(terms),
    enabled: isServerSearch,
    queryFn: ({ signal }) => queueSearch(signal, () => client.call('findProjects', { query: { q: terms.join(' ') } })),
    placeholderData: keepPreviousData,
    staleTime: pollInterval_ms,
    // What is not here is not kept true by the stream.
    refetchInterval: pollInterval_ms,
    retry: false,
  })

  const loadsAllPages = (isSearch || shouldPrefetch) && (!capabilities.has_instance_api || found.isError)
  useEffect(() => {
    if (loadsAllPages && hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }, [loadsAllPages, hasNextPage, isFetchingNextPage, error, fetchNextPage])

  const all = useMemo(() => data?.pages.flatMap((page) => page.projects) ?? [], [data])
  const serverMatches = isServerSearch ? found.data?.projects : undefined
  const matches = useMemo(() => {
    if (terms.length === 0) return all
    const matching = new Map<string, Project>()
    for (const project of serverMatches ?? []) if (isMatch(project, terms)) matching.set(project.id, project)
    // What is here is newer than any answer.
    for (const project of all) if (isMatch(project, terms)) matching.set(project.id, project)
    const projects = [...matching.values()]
    return serverMatches ? projects.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)) : projects
  }, [all, serverMatches, terms])

  const serverResult = isServerSearch && !found.isPlaceholderData ? found.data : undefined
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
    matches,
    is_search: isSearch,
    /** Whether more may yet be found. */
    is_searching: isSearch && hasNextPage && !serverResult,
    /** How many fit, and of how many, as far as that is known. */
    count: serverResult?.count ?? matches.length,
    total: serverResult?.total ?? all.length,
  }
}

const queueTimeout_ms = 500
let lastSearch: Promise<unknown> = Promise.resolve()

/** One search after the other, and none for words that were typed over meanwhile: the platform would work through them all. */
function queueSearch<Answer>(signal: AbortSignal, search: () => Promise<Answer>): Promise<Answer> {
  const queued = lastSearch.then(() => {
    signal.throwIfAborted()
    return search()
  })
  // Nobody waits for one that hangs.
  lastSearch = Promise.race([queued.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, queueTimeout_ms))])
  return queued
}
