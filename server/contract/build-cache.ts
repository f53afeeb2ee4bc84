import { z } from 'zod'
import { deploymentOperations } from './deployments.ts'
import { operation } from './operation.ts'
import { empty, projectParams } from './shared.ts'

/** Not among the 45 operations: deployments that ignore the build cache, and clearing it. */
export const buildCacheOperations = {
  createDeployment: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/deployments',
    resource: 'project',
    group: 'Instance',
    summary: 'Deploy the linked repository or the source of a deployment again, with options',
    description:
      'Without `deployment_id` the latest commit of the linked repository is deployed, as by deployProject; with it, the source of that deployment, as by retryDeployment.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      deployment_id: z.string().optional(),
      no_cache: z
        .boolean()
        .optional()
        .meta({ default: false })
        .describe('Install and build without results of earlier builds. The new results replace those in the cache.'),
    }),
    success: deploymentOperations.deployProject.success,
    errors: ['invalid_input', 'project_not_connected', 'project_not_found', 'deployment_not_found', 'runtime_not_isolated'],
    is_atomic: true,
  }),
  clearBuildCache: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/build-cache',
    resource: 'project',
    group: 'Instance',
    summary: 'Clear the build cache of a project',
    description: 'Removes cached dependencies and framework caches. The next build of a Dockerfile uses no cached layer of its RUN steps.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    success: { status: 204 },
    errors: ['project_not_found', 'build_in_progress', 'runtime_unavailable'],
  }),
}
