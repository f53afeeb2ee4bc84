import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import { useConnection } from '../stores/connection.ts'
import { helpFor } from '../features/help/help-for.ts'
import { useUi } from '../stores/ui.ts'
import { putDeployment, putProject, removeProject } from './cache.ts'
import type { Answer, CallInput } from './client.ts'
import { type ApiProblem, problemFrom } from './problem.ts'
import type { RouteId } from './routes.ts'

/**
 * A change of something: calls the operation, shows what came of it everywhere at once, and says a failure in a toast
 * unless the form that asked shows it itself (`quiet`).
 */
export function useAction<Id extends RouteId>(id: Id, options: { done?: string; quiet?: boolean; onDone?: (answer: Answer<Id>) => void } = {}) {
  const { id: of, client } = useConnection((state) => state.current)
  const cache = useQueryClient()
  const showToast = useUi((state) => state.showToast)
  return useMutation<Answer<Id>, ApiProblem, CallInput<Id>>({
    // So that what is under way can be found again by who went elsewhere meanwhile.
    mutationKey: [id],
    mutationFn: (input) =>
      client.call(id, input).catch((error: unknown) => {
        throw problemFrom(error)
      }),
    onSuccess(answer, input) {
      if (holds<Project>('project', answer)) putProject(cache, answer.project)
      if (holds<Deployment>('deployment', answer)) putDeployment(cache, answer.deployment)
      if (id === 'deleteProject' && input.params && 'slug' in input.params) removeProject(cache, input.params.slug)
      if (options.done) showToast({ kind: 'done', text: options.done, request_id: null, of })
      // Who went to another instance meanwhile is not led back; what changed is asked for anew when this one is in front again.
      if (useConnection.getState().current.id === of) options.onDone?.(answer)
    },
    onError(problem) {
      if (!options.quiet) showToast({ kind: 'failed', text: problem.message, request_id: problem.request_id, of, help: helpFor(problem.code) })
    },
  })
}

/** Answers to changes carry what changed under its name. */
function holds<Value>(name: 'project' | 'deployment', answer: unknown): answer is Record<typeof name, Value> {
  return typeof answer === 'object' && answer !== null && name in answer
}
