import type { ApiClient } from './api-client.ts'
import type { ApiEvent } from '../../server/client/operation-types.ts'
import type { StreamHandlers } from './event-stream.ts'

const initialLines = '2000'

/** Follows the output of an app, in production or of a branch preview. Returns a function that stops it. */
export function followRuntimeLog(
  client: ApiClient,
  slug: string,
  branch: string | null,
  handlers: StreamHandlers<ApiEvent<'streamRuntimeLog'>>,
): () => void {
  const controller = new AbortController()
  const query = { lines: initialLines, format: 'json', ...(branch === null ? {} : { branch }) } as const
  client.follow('streamRuntimeLog', { params: { slug }, query }, handlers, { signal: controller.signal, pauses_when_hidden: true })
  return () => controller.abort()
}
