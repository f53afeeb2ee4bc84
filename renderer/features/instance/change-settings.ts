import { useQueryClient } from '@tanstack/react-query'
import { useAction } from '../../api/actions.ts'
import { keys } from '../../api/keys.ts'

/** Saves settings of the instance, and has everything asked again that follows from them. */
export function useChangeSettings(options: { done?: string; quiet?: boolean; onDone?: () => void } = {}) {
  const cache = useQueryClient()
  return useAction('updateSettings', {
    ...options,
    onDone(answer) {
      cache.setQueryData(keys.settings, answer.settings)
      for (const queryKey of [keys.session, keys.lan, keys.https, keys.hostsFile, keys.billing, keys.everyDomain])
        void cache.invalidateQueries({ queryKey })
      options.onDone?.()
    },
  })
}
