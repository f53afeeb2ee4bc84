import { useMutation } from '@tanstack/react-query'
import { type ApiProblem, toProblem } from '../../lib/api-problem.ts'
import { upsertRemote } from '../../api/remotes.ts'
import { type InstanceConnection, localConnection, useConnection } from '../../stores/connection.ts'

/** Saves a new token for an instance and refetches its data. */
export function useUpdateToken({ id, cache }: InstanceConnection, onDone?: () => void) {
  const change = useMutation<void, ApiProblem, string>({
    mutationFn: async (token) => {
      try {
        const { remote } = await localConnection.client.call('updateRemote', { params: { id }, body: { token: token.trim() } })
        upsertRemote(remote)
      } catch (error) {
        throw toProblem(error)
      }
    },
    onSuccess() {
      cache.clear()
      useConnection.getState().clearRejection(id)
      onDone?.()
    },
  })
  const fieldError = tokenFieldError(change.error)
  return { mutate: change.mutate, isPending: change.isPending, fieldError, formError: fieldError === undefined ? change.error : null }
}

/** The part of an error that belongs to the token field. */
export function tokenFieldError(problem: ApiProblem | null): string | undefined {
  return problem?.issueFor('token') ?? (problem?.code === 'remote_token_refused' ? problem.message : undefined)
}
