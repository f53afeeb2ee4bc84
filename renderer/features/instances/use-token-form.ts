import { useUpdateRemote } from '../../api/remotes.ts'
import { useForm } from '../../lib/use-form.ts'
import { type InstanceConnection, useConnection } from '../../stores/connection.ts'

/** Saves a new token for an instance and refetches its data. */
export function useTokenForm({ id, cache }: InstanceConnection, onDone?: () => void) {
  const change = useUpdateRemote({
    hidesErrorToast: true,
    onSuccess() {
      cache.clear()
      useConnection.getState().clearRejection(id)
      onDone?.()
    },
  })
  return useForm({
    initial: { token: '' },
    submission: change,
    onSubmit: ({ token }) => change.mutate({ params: { id }, body: { token: token.trim() } }),
    fieldOf: ({ code }) => isTokenRefused(code) && 'token',
  })
}

/** An error that belongs to the token field. */
export const isTokenRefused = (code: string): boolean => code === 'remote_token_refused'
