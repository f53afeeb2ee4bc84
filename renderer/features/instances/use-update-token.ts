import { useUpdateRemote } from '../../api/remotes.ts'
import { type ApiProblem } from '../../lib/api-problem.ts'
import { type InstanceConnection, useConnection } from '../../stores/connection.ts'

/** Saves a new token for an instance and refetches its data. */
export function useUpdateToken({ id, cache }: InstanceConnection, onDone?: () => void) {
  const change = useUpdateRemote({
    hidesErrorToast: true,
    onSuccess() {
      cache.clear()
      useConnection.getState().clearRejection(id)
      onDone?.()
    },
  })
  const fieldError = tokenFieldError(change.error)
  const mutate = (token: string) => change.mutate({ params: { id }, body: { token: token.trim() } })
  return { mutate, isPending: change.isPending, fieldError, formError: fieldError === undefined ? change.error : null }
}

/** The part of an error that belongs to the token field. */
export function tokenFieldError(problem: ApiProblem | null): string | undefined {
  return problem?.issueFor('token') ?? (problem?.code === 'remote_token_refused' ? problem.message : undefined)
}
