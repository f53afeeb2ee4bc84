import { useQueryClient } from '@tanstack/react-query'
import { useApiMutation } from './use-api-mutation.ts'
import { queryKeys } from './query-keys.ts'

/** Saves instance settings and refetches everything that depends on them. */
export function useUpdateSettings(options: { successMessage?: string; hidesErrorToast?: boolean; onSuccess?: () => void } = {}) {
  const cache = useQueryClient()
  return useApiMutation('updateSettings', {
    ...options,
    onSuccess(answer) {
      cache.setQueryData(queryKeys.settings, answer.settings)
      for (const queryKey of [queryKeys.session, queryKeys.lan, queryKeys.https, queryKeys.hostsFile, queryKeys.billing, queryKeys.allDomains])
        void cache.invalidateQueries({ queryKey })
      options.onSuccess?.()
    },
  })
}
