import { useMutation } from '@tanstack/react-query'
import type { ApiProblem } from '../../api/problem.ts'
import { problemFrom } from '../../api/problem.ts'
import { putRemote } from '../../api/remotes.ts'
import { type Connection, home, useConnection } from '../../stores/connection.ts'

/** Gives another token to an instance that is known. What was asked for with the old one is asked for again. */
export function useTokenChange({ id, cache }: Connection, onDone?: () => void) {
  const change = useMutation<void, ApiProblem, string>({
    mutationFn: async (token) => {
      try {
        const { remote } = await home.client.call('updateRemote', { params: { id }, body: { token: token.trim() } })
        putRemote(remote)
      } catch (error) {
        throw problemFrom(error)
      }
    },
    onSuccess() {
      cache.clear()
      useConnection.getState().accept(id)
      onDone?.()
    },
  })
  const fieldError = tokenError(change.error)
  return { mutate: change.mutate, isPending: change.isPending, fieldError, plate: fieldError === undefined ? change.error : null }
}

/** What of a problem belongs at the field of the token. */
export function tokenError(problem: ApiProblem | null): string | undefined {
  return problem?.issue('token') ?? (problem?.code === 'remote_token_refused' ? problem.message : undefined)
}
