import type { ApiClient } from './api-client.ts'
import type { ApiEvent } from '../../server/client/operation-types.ts'
import type { StreamHandlers } from './event-stream.ts'

const initialLines = '2000'

/** The log to follow: of production or of a branch's preview; of the app or of another service. */
export interface FollowedLog {
  branch: string | null
  service: string | null
}

/** Of all replicas, or of one of a service that has several. */
export interface ReplicaLog extends FollowedLog {
  replica: { service: string; number: string } | null
}

/** Follows the output of an app or of another service. Returns a function that stops it. */
export function followRuntimeLog(
  client: ApiClient,
  slug: string,
  { branch, service, replica }: ReplicaLog,
  handlers: StreamHandlers<ApiEvent<'streamRuntimeLog'>>,
): () => void {
  const controller = new AbortController()
  const query = { lines: initialLines, ...(branch === null ? {} : { branch }) }
  const options = { signal: controller.signal, pauses_when_hidden: true }
  const name = replica?.service ?? service
  if (name === null) client.follow('streamRuntimeLog', { params: { slug }, query: { ...query, format: 'json' } }, handlers, options)
  else
    client.follow('streamServiceLog', { params: { slug, name }, query: { ...query, ...(replica && { replica: replica.number }) } }, handlers, options)
  return () => controller.abort()
}
