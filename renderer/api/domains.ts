import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Domain } from '../../server/contract/domains.ts'
import type { ApiResponse } from './api-client.ts'
import { queryKeys } from './query-keys.ts'
import { pollInterval_ms, useClient } from './queries.ts'

export type DomainList = ApiResponse<'listDomains'>

// Domains are verified and renewed in the background without an event, so they are refetched periodically.
const pollingOptions = { refetchInterval: 2 * pollInterval_ms, staleTime: 1_000 }

/** The domains of a project, or of every project that the user can see if `slug` is null. */
export function useDomains(slug: string | null) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.domains(slug),
    queryFn: ({ signal }) =>
      slug === null ? client.call('listDomains', { signal }) : client.call('listProjectDomains', { params: { slug }, signal }),
    ...pollingOptions,
  })
}

export function useDomain(id: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.domain(id),
    queryFn: ({ signal }) => client.call('getDomain', { params: { id }, signal }),
    ...pollingOptions,
  })
}

/** Domain offers for a query. Each query is sent once, because registrars rate-limit searches. */
export function useDomainOffers(query: string | null) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.domainOffers(query ?? ''),
    enabled: query !== null,
    queryFn: ({ signal }) => client.call('searchDomains', { query: { q: query ?? '' }, signal }),
    retry: false,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })
}

/** Writes a domain from a response into every cached list; null removes it. */
export function useUpdateCachedDomain() {
  const cache = useQueryClient()
  return (id: string, domain: Domain | null) => {
    cache.setQueriesData<DomainList>({ queryKey: queryKeys.allDomains }, (list) => {
      if (!list || domain === null || !list.domains.some((cached) => cached.id === id))
        return list && { ...list, domains: list.domains.filter((cached) => cached.id !== id) }
      return { ...list, domains: list.domains.map((cached) => (cached.id === id ? domain : cached)) }
    })
    if (domain === null) cache.removeQueries({ queryKey: queryKeys.domain(id) })
    else void cache.invalidateQueries({ queryKey: queryKeys.domain(id) })
    void cache.invalidateQueries({ queryKey: queryKeys.allDomains })
  }
}
