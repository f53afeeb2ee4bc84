import type { CallOutput } from '../client/operation-types.ts'
import { compareResponses } from '../contract/replay-summary.ts'
import { operationTool, type Tool } from './tool.ts'

/** Without values of headers and bodies, which are data of the app: only where the responses differ. */
export const replayTool: Tool = operationTool('replay_request', 'replayRequest', {
  select({ original, replayed }: CallOutput<'replayRequest'>) {
    const { body, headers, ...same } = compareResponses(original, replayed)
    const { status, duration_ms, deployment_id } = original
    return {
      original: { status, duration_ms, deployment_id },
      replayed: {
        request_id: replayed.request_id,
        host: replayed.host,
        deployment_id: replayed.deployment_id,
        status: replayed.status,
        duration_ms: replayed.duration_ms,
      },
      ...same,
      different_headers: headers.map(({ name }) => name),
      body: body.kind === 'json' ? { ...body, changes: body.changes.map(({ path, kind }) => ({ path, kind })) } : body,
    }
  },
})
