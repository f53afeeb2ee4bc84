import type { QueryClient } from '@tanstack/react-query'
import { useQuery } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useClient } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** The mail catcher of a project with its messages; null on an instance that does not have one (a hosted account). */
export function useMail(slug: string) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.mail(slug),
    enabled: is_known,
    queryFn: async ({ signal }) => (has_instance_api ? client.call('getMail', { params: { slug }, signal }) : null),
  })
}

/** A message never changes. */
export function useMailMessage(slug: string, message: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.mailMessage(slug, message),
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await client.call('getMailMessage', { params: { slug, message }, signal })).message,
  })
}

const refresh = (cache: QueryClient, _: unknown, { params: { slug } }: { params: { slug: string } }): void =>
  invalidate(cache, queryKeys.mail(slug), queryKeys.latest(slug))

export const useUpdateMail = createMutationHook('updateMail', refresh)
export const useDeleteMailMessage = createMutationHook('deleteMailMessage', refresh)
export const useDeleteMailMessages = createMutationHook('deleteMailMessages', refresh)
