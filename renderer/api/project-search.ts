import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useProjects } from './projects.ts'
import { pollInterval_ms, useClient } from './query.ts'
import { isMatch, splitSearchWords } from '../../server/contract/project-search.ts'
import type { Project } from '../../server/contract/projects.ts'
import { queryKeys } from './query-keys.ts'
import { useCapabilities } from './capabilities.ts'

/**
 * Projects that match a search, newest first; all loaded projects without a search. The platform searches the projects that are not loaded. An
 * instance without search (a hosted account) loads all pages instead, starting as soon as `isSoon` says that the user is about to type.
 * `needsAll`: the caller filters or orders the projects, so all pages are loaded.
 */
export function useProjectSearch(query: string, shouldPrefetch = false, needsAll = false) {
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
    // Events do not update projects that are not loaded.
    refetchInterval: pollInterval_ms,
    retry: false,
  })

  const loadsAllPages = needsAll || ((isSearch || shouldPrefetch) && (!capabilities.has_instance_api || found.isError))
  useEffect(() => {
    if (loadsAllPages && hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }, [loadsAllPages, hasNextPage, isFetchingNextPage, error, fetchNextPage])

  const all = useMemo(() => data?.pages.flatMap((page) => page.projects) ?? [], [data])
  const serverMatches = isServerSearch ? found.data?.projects : undefined
  const matches = useMemo(() => {
    if (terms.length === 0) return all
    const matching = new Map<string, Project>()
    for (const project of serverMatches ?? []) if (isMatch(project, terms)) matching.set(project.id, project)
    // Loaded projects are newer than any search result.
    for (const project of all) if (isMatch(project, terms)) matching.set(project.id, project)
    const projects = [...matching.values()]
    return serverMatches ? projects.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)) : projects
  }, [all, serverMatches, terms])

  const serverResult = isServerSearch && !found.isPlaceholderData ? found.data : undefined
  return {
    // Fields are read one by one, because spreading the query would subscribe to every field and rerender on each change.
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
    /** Whether more matches may arrive. */
    is_searching: (isSearch && hasNextPage && !serverResult) || (needsAll && hasNextPage),
    /** Number of matches and of all projects, as far as known. */
    count: serverResult?.count ?? matches.length,
    total: serverResult?.total ?? all.length,
  }
}

const queueTimeout_ms = 500
let lastSearch: Promise<unknown> = Promise.resolve()

/** Searches one query at a time and skips superseded ones, because the platform would execute all of them. */
function queueSearch<Answer>(signal: AbortSignal, search: () => Promise<Answer>): Promise<Answer> {
  const queued = lastSearch.then(() => {
    signal.throwIfAborted()
    return search()
  })
  // Timeout for a search that hangs.
  lastSearch = Promise.race([queued.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, queueTimeout_ms))])
  return queued
}
