import { useQuery } from '@tanstack/react-query'
import type { PromotionClient } from '../../server/client/promotion/client.ts'
import { loadSourceProject, loadTargetProject } from '../../server/client/promotion/sides.ts'
import type { InstanceConnection } from '../stores/connection.ts'
import type { ApiClient } from './api-client.ts'
import { fetchFile } from './fetch-file.ts'

/** A page keeps the files of a promotion as blobs, which the browser stores on disk if they are large. */
export function toPromotionClient(client: ApiClient): PromotionClient {
  return {
    call: (id, input) => client.call(id, input),
    download: (id, input, { signal, max_bytes, onProgress }) =>
      fetchFile(client.urlOf(id, input), { signal, max_bytes, onProgress: (bytes) => onProgress(bytes, null) }),
    upload: (id, input, file, options) => client.upload(id, input, file, options),
  }
}

// Each key names the instance, because a query hook keeps the cache of its first instance.

/** Loaded again for each promotion. */
export function usePromotionSource({ id, client, cache }: InstanceConnection, slug: string, deploymentId: string | null) {
  return useQuery(
    {
      queryKey: ['promote-source', id, slug, deploymentId],
      queryFn: ({ signal }) => loadSourceProject(toPromotionClient(client), slug, deploymentId, signal),
      gcTime: 0,
    },
    cache,
  )
}

export function usePromotionTarget({ id, client, cache }: InstanceConnection, slug: string) {
  return useQuery(
    {
      queryKey: ['promote-target', id, slug],
      queryFn: ({ signal }) => loadTargetProject(toPromotionClient(client), slug, signal),
      enabled: slug !== '',
      gcTime: 0,
    },
    cache,
  )
}

/** The projects of an instance, as suggestions. */
export function usePromotionProjects({ id, client, cache }: InstanceConnection) {
  return useQuery(
    {
      queryKey: ['promote-projects', id],
      queryFn: async ({ signal }) => (await client.call('listProjects', { query: { limit: '100' }, signal })).projects,
      gcTime: 0,
    },
    cache,
  )
}
