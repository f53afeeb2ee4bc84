import { z } from 'zod'
import { deploymentStatus } from './deployments.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { branchName, dateTime, empty, okResponse, projectIdParams, projectParams } from './shared.ts'

export const deployHook = z.object({
  id: z.string(),
  name: z.string(),
  branch: z.string().nullable().describe('Null for the production branch, whichever that is when the hook is called.'),
  last4: z.string().describe('The end of its token.'),
  last_used_at: dateTime.nullable(),
  created_at: dateTime,
})
export type DeployHook = z.output<typeof deployHook>

/** The response of the hook itself, `POST /hooks/deploy/{token}`. */
export const deployHookResult = z.object({
  deployment_id: z.string(),
  status: deploymentStatus,
  is_new: z.boolean().describe('False: a deployment that this branch’s hooks requested is queued already, and will fetch the newest commit.'),
})

export type DeployHookResult = z.output<typeof deployHookResult>

export const deployHookOperations = {
  listDeployHooks: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/deploy-hooks',
    resource: 'project',
    group: 'Instance',
    summary: 'List the deploy hooks of a project',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ deploy_hooks: z.array(deployHook) }) },
    errors: ['project_not_found'],
  }),
  createDeployHook: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/deploy-hooks',
    resource: 'project',
    group: 'Instance',
    summary: 'Create a URL that deploys a branch when it is called',
    description: 'The token and the URL with it are only in this response. Only a hash of the token is stored.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({ name: z.string().trim().min(limits.name.min).max(limits.name.max), branch: branchName.nullable().optional() }),
    success: { status: 201, json: z.object({ deploy_hook: deployHook, token: z.string(), url: z.string() }) },
    errors: ['invalid_input', 'project_not_connected', 'project_not_found', 'too_many_targets'],
  }),
  deleteDeployHook: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/deploy-hooks/{id}',
    resource: 'project',
    group: 'Instance',
    summary: 'Delete a deploy hook; its URL stops working',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: { status: 200, json: okResponse },
    errors: ['project_not_found', 'deploy_hook_not_found'],
  }),
}
