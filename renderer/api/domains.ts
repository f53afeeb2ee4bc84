import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Domain } from '../../server/contract/domains.ts'
import type { Answer } from './client.ts'
import { keys } from './keys.ts'
import { look_again_ms, useClient } from './queries.ts'

export type DomainList = Answer<'listDomains'>

// Names are checked and renewed behind our back, and nothing says so: they are asked for again while somebody looks.
const looking = { refetchInterval: 2 * look_again_ms, staleTime: 1_000 }

/** The domains of a project, or with null of every project that I may see. */
export function useDomains(slug: string | null) {
  const client = useClient()
  return useQuery({
    queryKey: keys.domains(slug),
    queryFn: ({ signal }) =>
      slug === null ? client.call('listDomains', { signal }) : client.call('listProjectDomains', { params: { slug }, signal }),
    ...looking,
  })
}

export function useDomain(id: string) {
  const client = useClient()
  return useQuery({
    queryKey: keys.domain(id),
    queryFn: ({ signal }) => client.call('getDomain', { params: { id }, signal }),
    ...looking,
  })
}

/** What is sold under a name, asked once for each: a registrar counts who asks. */
export function useOffers(query: string | null) {
  const client = useClient()
  return useQuery({
    queryKey: keys.offers(query ?? ''),
    enabled: query !== null,
    queryFn: ({ signal }) => client.call('searchDomains', { query: { q: query ?? '' }, signal }),
    retry: false,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })
}

/** Shows a domain as an answer has it, at once and everywhere; null when it is gone. */
export function usePutDomain() {
  const cache = useQueryClient()
  return (id: string, domain: Domain | null) => {
    cache.setQueriesData<DomainList>({ queryKey: keys.everyDomain }, (list) => {
      if (!list || domain === null || !list.domains.some((one) => one.id === id))
        return list && { ...list, domains: list.domains.filter((one) => one.id !== id) }
      return { ...list, domains: list.domains.map((one) => (one.id === id ? domain : one)) }
    })
    if (domain === null) cache.removeQueries({ queryKey: keys.domain(id) })
    else void cache.invalidateQueries({ queryKey: keys.domain(id) })
    void cache.invalidateQueries({ queryKey: keys.everyDomain })
  }
}
