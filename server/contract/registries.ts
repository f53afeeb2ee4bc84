import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, okResponse, projectParams } from './shared.ts'

export const registry = z.object({
  host: z.string().describe('Such as ghcr.io; docker.io for Docker Hub.'),
  username: z.string(),
  created_at: dateTime.describe('When its password was set.'),
})
export type Registry = z.output<typeof registry>

/** A header of the registry request contains both, so they have no line breaks; a user name has no colon. */
const username = z
  .string()
  .min(1)
  .max(limits.registry_username)
  .regex(/^[^:\p{Cc}]+$/u, 'A username must not contain a colon or control characters.')
const password = z
  .string()
  .min(1)
  .max(limits.registry_password)
  .refine((text) => !text.includes('\0'), 'A password must not contain a NUL character.')

/** Instance-only operations: the credentials for pulling the images of a project. */
export const registryOperations = {
  listRegistries: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/registries',
    resource: 'project',
    group: 'Instance',
    summary: 'List the registries that a project has credentials for',
    description: 'Passwords are never returned.',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        registries: z.array(registry),
        docker_login: z
          .array(z.string())
          .nullable()
          .describe('Registries that `docker login` of this machine’s user adds; null for projects of other accounts, which never use it.'),
      }),
    },
    errors: ['project_not_found'],
  }),
  addRegistry: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/registries',
    resource: 'project',
    group: 'Instance',
    summary: 'Add credentials for a registry, or replace them',
    description: 'They are stored encrypted and used from the next deployment on, only for images of this host.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({ host: z.string().min(1).max(limits.registry_host), username, password }),
    success: { status: 200, json: z.object({ registry }) },
    errors: ['invalid_input', 'project_not_found'],
  }),
  removeRegistry: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/registries/{host}',
    resource: 'project',
    group: 'Instance',
    summary: 'Remove the credentials for a registry',
    access: 'caller',
    params: projectParams.extend({ host: z.string() }),
    query: empty,
    success: { status: 200, json: okResponse },
    errors: ['project_not_found', 'registry_not_found'],
  }),
}
