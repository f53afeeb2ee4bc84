import { type QueryClient, type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import { type InstanceConnection, useConnection } from '../stores/connection.ts'
import { helpTopicForError } from '../lib/help-topic-for.ts'
import { useUi } from '../stores/ui.ts'
import { upsertDeployment, upsertProject } from './query-cache.ts'
import type { CallOutput, CallInput } from '../../server/client/operation-types.ts'
import type { ApiError } from '../../server/client/api-error.ts'
import { toApiError } from '../lib/api-error.ts'
import type { OperationId } from '../../server/contract/index.ts'

interface MutationOptions<Id extends OperationId> {
  /** For a toast. */
  successMessage?: string | ((answer: CallOutput<Id>) => string)
  /** The caller shows errors itself. */
  hidesErrorToast?: boolean
  /** Not called if the user switched to another instance meanwhile; its data is refetched when the user returns. */
  onSuccess?: (answer: CallOutput<Id>) => void
}

/**
 * Makes the mutation hook of an operation. `updateCache` brings cached queries up to date with the response; a project or deployment in it is
 * written into the cache anyway. `connection`: the instance, if it is not the current one.
 */
export function createMutationHook<Id extends OperationId>(
  id: Id,
  updateCache?: (cache: QueryClient, answer: CallOutput<Id>, input: CallInput<Id>) => void,
  connection?: InstanceConnection,
) {
  return function useApiMutation({ successMessage, hidesErrorToast, onSuccess }: MutationOptions<Id> = {}) {
    const { id: instanceId, client } = useConnection((state) => state.current)
    const cache = useQueryClient(connection?.cache)
    const showToast = useUi((state) => state.showToast)
    return useMutation<CallOutput<Id>, ApiError, CallInput<Id>>(
      {
        // Key by which another page finds the pending mutation.
        mutationKey: [id],
        mutationFn: (input) =>
          (connection?.client ?? client).call(id, input).catch((error: unknown) => {
            throw toApiError(error)
          }),
        onSuccess(answer, input) {
          if (hasResource<Project>('project', answer)) upsertProject(cache, answer.project)
          if (hasResource<Deployment>('deployment', answer)) upsertDeployment(cache, answer.deployment)
          updateCache?.(cache, answer, input)
          const text = typeof successMessage === 'function' ? successMessage(answer) : successMessage
          if (text) showToast({ kind: 'done', text, request_id: null, of: instanceId })
          if (useConnection.getState().current.id === instanceId) onSuccess?.(answer)
        },
        onError(problem) {
          if (!hidesErrorToast)
            showToast({
              kind: 'failed',
              text: problem.message,
              request_id: problem.request_id,
              of: instanceId,
              help: helpTopicForError(problem.code),
            })
        },
      },
      cache,
    )
  }
}

/** Refetches queries that a mutation changed. */
export function invalidate(cache: QueryClient, ...queryKeys: QueryKey[]): void {
  for (const queryKey of queryKeys) void cache.invalidateQueries({ queryKey })
}

/** Mutation responses contain the changed resource under its name. */
function hasResource<Value>(name: 'project' | 'deployment', answer: unknown): answer is Record<typeof name, Value> {
  return typeof answer === 'object' && answer !== null && name in answer
}
