import { z } from 'zod'
import { operation } from './operation.ts'
import { presetNames, type PresetName } from './service-presets.ts'
import { dateTime, empty, projectParams } from './shared.ts'

const presetName = z.enum(presetNames as [PresetName, ...PresetName[]])

export const managedService = z.object({
  name: presetName.describe('The name of the service, and its host name for the other services of the project.'),
  label: z.string(),
  summary: z.string(),
  image: z.string(),
  variables: z.array(z.string()).describe('Names of the variables that the apps of the project get.'),
  is_added: z.boolean(),
  has_data: z.boolean().describe('It was removed, and its data is still there. Adding it again uses the data.'),
  added_at: dateTime.nullable(),
})
export type ManagedService = z.output<typeof managedService>

const presetParams = projectParams.extend({ name: presetName })
const changed = z.object({ service: managedService, deployment_id: z.string().nullable() })

/** Instance-only operations: services that a project gets without a configuration file. */
export const managedServiceOperations = {
  listManagedServices: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/managed-services',
    resource: 'project',
    group: 'Instance',
    summary: 'List the managed services that a project has or can have',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        services: z.array(managedService),
        unavailable: z.string().nullable().describe('Why this instance cannot run managed services.'),
      }),
    },
    errors: ['project_not_found'],
  }),
  addManagedService: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/managed-services',
    resource: 'project',
    group: 'Instance',
    summary: 'Add a managed service to a project',
    description:
      'Its container, volume and password belong to the project; each preview has its own container and volume. Its variables replace those of the same names. A deployed project is redeployed. A service that already exists is not changed.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.strictObject({ name: presetName }),
    success: { status: 200, json: changed },
    errors: ['invalid_input', 'project_not_found', 'runtime_not_isolated', 'runtime_unavailable'],
  }),
  removeManagedService: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/managed-services/{name}',
    resource: 'project',
    group: 'Instance',
    summary: 'Remove a managed service from a project',
    description: 'A deployed project is redeployed without it. Its volume and password are kept until the project is deleted.',
    access: 'caller',
    params: presetParams,
    query: empty,
    success: { status: 200, json: changed },
    errors: ['invalid_input', 'project_not_found', 'service_not_found', 'runtime_not_isolated'],
  }),
}
