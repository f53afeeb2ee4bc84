import { z } from 'zod'
import { isReservedKey, keyPattern, keyPatternMessage, nulMessage, reservedKeyMessage } from './env-var-rules.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, projectIdParams, projectParams } from './shared.ts'

/** Null: production and preview. */
const environment = z.enum(['production', 'preview']).nullable()

export const envVar = z.object({
  id: z.string(),
  key: z.string(),
  value: z.string(),
  environment,
  is_sensitive: z.boolean().describe('Hidden by default in the dashboard; the owner can still read it.'),
  created_at: dateTime,
  updated_at: dateTime,
})
export type EnvVar = z.output<typeof envVar>

const key = z
  .string()
  .min(limits.env_var_key.min)
  .max(limits.env_var_key.max)
  .regex(keyPattern, keyPatternMessage)
  .refine((name) => !isReservedKey(name), reservedKeyMessage)
const value = z
  .string()
  .max(limits.env_var_value)
  .refine((text) => !text.includes('\0'), nulMessage)

const newEnvVar = z.strictObject({
  key,
  value,
  environment: environment.optional().meta({ default: null }),
  is_sensitive: z.boolean().optional().meta({ default: false }),
})
export type NewEnvVar = z.output<typeof newEnvVar>

/** A variable with the fields that only an instance has. */
export const projectEnvVar = envVar.extend({
  is_write_only: z.boolean().describe('The value is never returned: `value` is empty, and `is_sensitive` is true.'),
  is_build_secret: z.boolean().describe('Builds of a Dockerfile can mount it: `RUN --mount=type=secret,id=KEY`.'),
})
export type ProjectEnvVar = z.output<typeof projectEnvVar>

const newProjectEnvVar = newEnvVar.extend({
  is_write_only: z.boolean().optional().meta({ default: false }).describe('Never return the value. This cannot be undone.'),
  is_build_secret: z
    .boolean()
    .optional()
    .meta({ default: false })
    .describe('Let RUN steps of a Dockerfile mount the value as the secret with this key. The value is not in any layer, argument or log.'),
})
export type NewProjectEnvVar = z.output<typeof newProjectEnvVar>

const envVarChange = z.strictObject({
  value: value.optional(),
  is_sensitive: z.boolean().optional(),
  is_write_only: z.literal(true).optional(),
  is_build_secret: z.boolean().optional(),
})

export type EnvVarChange = z.output<typeof envVarChange>

const created = z.object({ id: z.string(), key: z.string(), environment })
const skipped = z.object({ key: z.string(), environment, reason: z.enum(['exists', 'duplicate_in_request']) })

const createdResponse = z.object({ created: z.array(created), skipped: z.array(skipped), deployment_id: z.string().nullable() })

export const envVarOperations = {
  listEnvVars: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/env-vars',
    resource: 'project',
    group: 'Environment variables',
    summary: 'List the variables of a project with decrypted values',
    description: 'Sorted by environment (both first, our reading), then by key. The value of a write-only variable is empty (our reading).',
    access: 'caller',
    scope: 'admin',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ env_vars: z.array(envVar) }) },
    errors: ['project_not_found'],
  }),
  createEnvVars: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/env-vars',
    resource: 'project',
    group: 'Environment variables',
    summary: 'Add one variable, or up to 200',
    description:
      'Existing variables (same key and environment) are reported as skipped, never overwritten. If all are skipped, the response is a 409 with the same fields. Adding a production variable redeploys the project once per request; `deployment_id` names that deployment (our reading).',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.union([z.strictObject({ vars: z.array(newEnvVar).min(limits.env_vars.min).max(limits.env_vars.max) }), newEnvVar]),
    success: { status: 201, json: createdResponse },
    errors: ['invalid_input', 'project_not_found', 'env_vars_exist', 'runtime_not_isolated'],
    is_atomic: true,
  }),
  updateEnvVar: operation({
    method: 'PATCH',
    path: '/v1/projects/{slug}/env-vars/{id}',
    resource: 'env_var',
    group: 'Environment variables',
    summary: 'Change a value',
    description:
      'Key and environment cannot be changed. The project is not redeployed: the new value applies to the next deployment. An empty value keeps that of a write-only variable, so that a list can be sent back unchanged (our reading).',
    access: 'caller',
    scope: 'deploy',
    params: projectIdParams,
    query: empty,
    body: z.strictObject({ value, is_sensitive: z.boolean().optional() }),
    success: { status: 200, json: z.object({ id: z.string() }) },
    errors: ['invalid_input', 'project_not_found', 'env_var_not_found'],
  }),
  deleteEnvVar: operation({
    method: 'DELETE',
    path: '/v1/projects/{slug}/env-vars/{id}',
    resource: 'env_var',
    group: 'Environment variables',
    summary: 'Delete a variable',
    description: 'Deleting a production variable redeploys the project.',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: { status: 204 },
    errors: ['project_not_found', 'env_var_not_found', 'runtime_not_isolated'],
  }),
}

/** Instance-only operations, for what the operations above have no fields for. */
export const projectEnvVarOperations = {
  listEnvVarKeys: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/env-var-keys',
    resource: 'project',
    group: 'Instance',
    summary: 'List the variables of a project without their values',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ env_vars: z.array(projectEnvVar.omit({ value: true })) }) },
    errors: ['project_not_found'],
  }),
  listProjectEnvVars: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/env-vars',
    resource: 'project',
    group: 'Instance',
    summary: 'List the variables of a project, with the fields of an instance',
    access: 'caller',
    scope: 'admin',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ env_vars: z.array(projectEnvVar) }) },
    errors: ['project_not_found'],
  }),
  createProjectEnvVars: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/env-vars',
    resource: 'project',
    group: 'Instance',
    summary: 'Add one variable, or up to 200, which may be write-only or build secrets',
    description: 'Like createEnvVars. The value of a write-only variable is available only to builds and apps.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.union([z.strictObject({ vars: z.array(newProjectEnvVar).min(limits.env_vars.min).max(limits.env_vars.max) }), newProjectEnvVar]),
    success: { status: 201, json: createdResponse },
    errors: ['invalid_input', 'project_not_found', 'env_vars_exist', 'runtime_not_isolated'],
    is_atomic: true,
  }),
  updateProjectEnvVar: operation({
    method: 'PATCH',
    path: '/instance/projects/{slug}/env-vars/{id}',
    resource: 'env_var',
    group: 'Instance',
    summary: 'Change the value of a variable, or who can read it',
    description: 'Without `value`, the value is not changed. A write-only variable stays write-only until it is deleted.',
    access: 'caller',
    scope: 'deploy',
    params: projectIdParams,
    query: empty,
    body: envVarChange,
    success: { status: 200, json: z.object({ id: z.string() }) },
    errors: ['invalid_input', 'project_not_found', 'env_var_not_found'],
  }),
  changeProjectEnvVars: operation({
    method: 'PATCH',
    path: '/instance/projects/{slug}/env-vars',
    resource: 'project',
    group: 'Instance',
    summary: 'Add, change and delete variables in one step',
    description:
      'Deletes first, so that a variable can be replaced by one of the same name. All or nothing: a variable that already exists, or does not exist, changes nothing. A change of production redeploys the project once, unless `redeploy` is false.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      create: z.array(newProjectEnvVar).max(limits.env_vars.max).optional(),
      update: z
        .array(envVarChange.extend({ id: z.string() }))
        .max(limits.env_vars.max)
        .optional(),
      delete: z.array(z.string()).max(limits.env_vars.max).optional(),
      redeploy: z.boolean().optional().meta({ default: true }),
    }),
    success: { status: 200, json: z.object({ created: z.array(created), deployment_id: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found', 'env_var_not_found', 'env_vars_exist', 'runtime_not_isolated'],
    is_atomic: true,
  }),
}
