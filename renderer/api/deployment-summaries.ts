import { useQuery } from '@tanstack/react-query'
import { useClient } from './query.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { ApiClient } from './api-client.ts'
import { queryKeys } from './query-keys.ts'
import { useCapabilities } from './capabilities.ts'
import { ApiError } from '../../server/client/api-error.ts'

/** Data of a project row beyond the project itself. */
interface DeploymentSummary {
  latest: Deployment | null
  serving: Deployment | null
}

/** `isAlone`: the instance has no batch endpoint (a hosted account). */
type SummaryLoader = (slug: string, isUnbatched?: boolean) => Promise<DeploymentSummary>

// Batch size limit of the contract.
const maxBatchSize = 60
const summaryLoaders = new WeakMap<ApiClient, SummaryLoader>()

/** The latest and the current deployment of a project row; undefined while loading. The deployment cache keeps them up to date. */
export function useDeploymentSummary(
  slug: string,
  enabled: boolean,
): { latest: Deployment | null | undefined; serving: Deployment | null | undefined } {
  const loadSummaryFor = summaryLoaderFor(useClient())
  const capabilities = useCapabilities()
  const load = () => loadSummaryFor(slug, capabilities.is_known && !capabilities.has_instance_api)
  const { data: latest } = useQuery({ queryKey: queryKeys.latest(slug), enabled, queryFn: async () => (await load()).latest })
  const { data: serving } = useQuery({ queryKey: queryKeys.serving(slug), enabled, queryFn: async () => (await load()).serving })
  return { latest, serving }
}

function summaryLoaderFor(client: ApiClient): SummaryLoader {
  const loadSummaryFor = summaryLoaders.get(client) ?? createSummaryLoader(client)
  summaryLoaders.set(client, loadSummaryFor)
  return loadSummaryFor
}

/** Combines rows that load in the same tick into one request, so that scrolling through ten thousand rows stays below the rate limit. */
export function createSummaryLoader(client: Pick<ApiClient, 'call'>): SummaryLoader {
  let pending = new Map<string, PromiseWithResolvers<DeploymentSummary>>()
  let isBatchUnsupported = false

  const loadEach = (group: typeof pending) => {
    for (const [slug, { resolve }] of group) resolve(loadSummary(client, slug))
  }
  const loadBatch = async (group: typeof pending) => {
    try {
      const { glances } = await client.call('listGlances', { query: { slugs: [...group.keys()].join(',') } })
      for (const { slug, latest, serving } of glances) group.get(slug)?.resolve({ latest, serving })
      for (const { reject } of group.values()) reject(new ApiError('project_not_found', 'This project no longer exists.', { status: 404 }))
    } catch (error) {
      // An instance of an earlier version has no batch endpoint.
      isBatchUnsupported ||= error instanceof ApiError && error.code === 'route_not_found'
      if (isBatchUnsupported) loadEach(group)
      else for (const { reject } of group.values()) reject(error)
    }
  }
  const flush = () => {
    const all = [...pending]
    pending = new Map()
    if (isBatchUnsupported) loadEach(new Map(all))
    else for (let from = 0; from < all.length; from += maxBatchSize) void loadBatch(new Map(all.slice(from, from + maxBatchSize)))
  }

  return (slug, isUnbatched = false) => {
    isBatchUnsupported ||= isUnbatched
    // Deferred by one task, so that retries that join in the same tick share the request.
    if (pending.size === 0) setTimeout(flush)
    const known = pending.get(slug) ?? Promise.withResolvers<DeploymentSummary>()
    pending.set(slug, known)
    return known.promise
  }
}

async function loadSummary(client: Pick<ApiClient, 'call'>, slug: string): Promise<DeploymentSummary> {
  const params = { slug }
  const [latest = null] = (await client.call('listDeployments', { params, query: { limit: '1' } })).deployments
  // The latest deployment is usually the current one.
  if (latest === null || (latest.target === 'production' && latest.is_current)) return { latest, serving: latest }
  const page = await client.call('listDeployments', { params, query: { target: 'production', status: 'ready', limit: '50' } })
  return { latest, serving: page.deployments.find((deployment) => deployment.is_current) ?? null }
}
