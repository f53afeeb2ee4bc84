import { type QueryClient } from '@tanstack/react-query'
import type { Domain } from '../../server/contract/domains.ts'
import { useApiQuery, pollInterval_ms } from './query.ts'
import type { CallOutput } from '../../server/client/operation-types.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'

export type DomainList = CallOutput<'listDomains'>

// Domains are verified and renewed in the background without an event, so they are refetched periodically.
const pollingOptions = { refetchInterval: 2 * pollInterval_ms, staleTime: 1_000 }

/** The domains of a project, or of every project that the user can see if `slug` is null. */
export const useDomains = (slug: string | null) =>
  useApiQuery(
    (client, signal) => (slug === null ? client.call('listDomains', { signal }) : client.call('listProjectDomains', { params: { slug }, signal })),
    {
      queryKey: queryKeys.domains(slug),
      ...pollingOptions,
    },
  )

export const useDomain = (id: string) =>
  useApiQuery((client, signal) => client.call('getDomain', { params: { id }, signal }), {
    queryKey: queryKeys.domain(id),
    ...pollingOptions,
  })

/** Domain offers for a query. Each query is sent once, because registrars rate-limit searches. */
export const useDomainOffers = (query: string | null) =>
  useApiQuery((client, signal) => client.call('searchDomains', { query: { q: query ?? '' }, signal }), {
    queryKey: queryKeys.domainOffers(query ?? ''),
    enabled: query !== null,
    retry: false,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })

export const useAddDomain = createMutationHook('addDomain', (cache) => invalidate(cache, queryKeys.allDomains))
export const useVerifyDomain = createMutationHook('verifyDomain', (cache, { domain }) => storeDomain(cache, domain.id, domain))
export const useTransferDomain = createMutationHook('transferDomain', (cache, { domain }) => storeDomain(cache, domain.id, domain))
export const useDeleteDomain = createMutationHook('deleteDomain', (cache, _, { params }) => storeDomain(cache, params.id, null))
export const usePurchaseDomain = createMutationHook('purchaseDomain', (cache) => {
  // A credit may have paid.
  invalidate(cache, queryKeys.allDomains, queryKeys.billing)
  // Updates the search results, in which the domain is taken now; the purchased domain stays visible.
  void cache.invalidateQueries({ queryKey: queryKeys.allDomainOffers, refetchType: 'none' })
})

/** Writes a domain from a response into every cached list; null removes it. */
function storeDomain(cache: QueryClient, id: string, domain: Domain | null): void {
  cache.setQueriesData<DomainList>({ queryKey: queryKeys.allDomains }, (list) => {
    if (!list || domain === null || !list.domains.some((cached) => cached.id === id))
      return list && { ...list, domains: list.domains.filter((cached) => cached.id !== id) }
    return { ...list, domains: list.domains.map((cached) => (cached.id === id ? domain : cached)) }
  })
  if (domain === null) cache.removeQueries({ queryKey: queryKeys.domain(id) })
  else invalidate(cache, queryKeys.domain(id))
  invalidate(cache, queryKeys.allDomains)
}
