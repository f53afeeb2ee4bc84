import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import { useConnection } from '../stores/connection.ts'
import { helpTopicForError } from '../lib/help-topic-for.ts'
import { useUi } from '../stores/ui.ts'
import { upsertDeployment, upsertProject, removeProject } from './query-cache.ts'
import type { ApiResponse, ApiRequest } from './api-client.ts'
import { type ApiProblem, toProblem } from '../lib/api-problem.ts'
import type { RoutedOperationId } from './operation-routes.ts'

/**
 * A mutation: calls the operation, updates the cache with the response, and shows failures in a toast unless the form shows them itself
 * (`hidesErrorToast`).
 */
export function useApiMutation<Id extends RoutedOperationId>(
  id: Id,
  options: { successMessage?: string; hidesErrorToast?: boolean; onSuccess?: (answer: ApiResponse<Id>) => void } = {},
) {
  const { id: instanceId, client } = useConnection((state) => state.current)
  const cache = useQueryClient()
  const showToast = useUi((state) => state.showToast)
  return useMutation<ApiResponse<Id>, ApiProblem, ApiRequest<Id>>({
    // Key by which another page finds the pending mutation.
    mutationKey: [id],
    mutationFn: (input) =>
      client.call(id, input).catch((error: unknown) => {
        throw toProblem(error)
      }),
    onSuccess(answer, input) {
      if (hasResource<Project>('project', answer)) upsertProject(cache, answer.project)
      if (hasResource<Deployment>('deployment', answer)) upsertDeployment(cache, answer.deployment)
      if (id === 'deleteProject' && input.params && 'slug' in input.params) removeProject(cache, input.params.slug)
      if (options.successMessage) showToast({ kind: 'done', text: options.successMessage, request_id: null, of: instanceId })
      // If the user switched to another instance meanwhile, there is no navigation; its data is refetched when the user returns.
      if (useConnection.getState().current.id === instanceId) options.onSuccess?.(answer)
    },
    onError(problem) {
      if (!options.hidesErrorToast)
        showToast({ kind: 'failed', text: problem.message, request_id: problem.request_id, of: instanceId, help: helpTopicForError(problem.code) })
    },
  })
}

/** Mutation responses contain the changed resource under its name. */
function hasResource<Value>(name: 'project' | 'deployment', answer: unknown): answer is Record<typeof name, Value> {
  return typeof answer === 'object' && answer !== null && name in answer
}
