import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { createEdge, type Edge, type EdgeOptions } from '../edge/server.ts'
import { createEdgeWorkers, type EdgeWorkers } from '../edge/workers/edge-workers.ts'
import { removeUnusedCaches } from '../edge/workers/shared-cache.ts'
import { pickVariables } from '../lib/environment.ts'
import type { PlatformOptions } from '../options.ts'

/** The edge in as many processes as wanted. If they cannot start, the apps are served by this one, and there are no workers. */
export async function createPlatformEdge(
  options: Pick<PlatformOptions, 'edge_workers' | 'edge_worker_path' | 'node_path' | 'environment'>,
  edgeOptions: EdgeOptions,
): Promise<{ edge: Edge; workers: EdgeWorkers | undefined }> {
  const { edge_workers } = options
  if (edgeOptions.cache?.directory) await removeUnusedCaches(edgeOptions.cache.directory, edge_workers)
  if (edge_workers > 0) {
    const edge = createEdgeWorkers({ ...edgeOptions, workers: edge_workers, program: getWorkerProgram(options) })
    if (await edge.isRunning()) return { edge, workers: edge }
    await edge.close()
    edgeOptions.log.error('edge.workers_unavailable')
  }
  return { edge: createEdge(edgeOptions), workers: undefined }
}

/** What a worker needs comes as messages. Of the environment it has what its system needs, and settings of memory. */
function getWorkerProgram({ node_path, edge_worker_path, environment }: Pick<PlatformOptions, 'edge_worker_path' | 'node_path' | 'environment'>) {
  const env = pickVariables(environment, ['SystemRoot', 'MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TRIM_THRESHOLD_'])
  const cacheFolder = getCompileCacheDir()
  return { node_path, script: edge_worker_path, env: cacheFolder === undefined ? env : { ...env, NODE_COMPILE_CACHE: dirname(cacheFolder) } }
}
