import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { branchName, command, dateTime, empty, isInsideRepository, nodeVersion, pageQuery, projectParams, slug } from './shared.ts'

/** `created` → `building` → `live` | `failed` | `crashed`; `inactive` when stopped. */
export const projectStatus = z.enum(['created', 'building', 'live', 'failed', 'crashed', 'inactive'])

export const project = z.object({
  id: z.string(),
  name: z.string(),
  slug,
  repo_url: z.string().nullable().describe('Without credentials, which are stored separately, encrypted, and never returned (our reading).'),
  repo_branch: z.string(),
  is_connected: z.boolean(),
  node_version: z.string().describe('`auto`: detected from the source; the build log shows the version and the reason (our reading).'),
  install_command: z.string(),
  build_command: z.string(),
  root_directory: z.string(),
  memory_limit_mb: z.number(),
  port: z.number().nullable(),
  status: projectStatus.describe('`created`, `building`, `live`, `failed`, `crashed`, `inactive` (our reading of the open list).'),
  always_warm: z.boolean(),
  is_cold: z.boolean(),
  caching_enabled: z.boolean(),
  has_purge_token: z.boolean(),
  last_request_at: dateTime.nullable(),
  created_at: dateTime,
  updated_at: dateTime,
})

export type Project = z.output<typeof project>
export type ProjectStatus = z.output<typeof projectStatus>

const name = z.string().min(limits.name.min).max(limits.name.max)

/** Only the syntax is checked here; which schemes a caller may use is checked in the feature. */
const repoUrl = z
  .string()
  .max(2000)
  .refine(
    // oxlint-disable-next-line no-control-regex -- a URL has no control characters
    (text) => URL.canParse(text) && !/[\u0000-\u0020\u007f]/.test(text),
    'Use a full URL, such as https://example.com/me/app.git or file:///home/me/app.',
  )
  .meta({ format: 'uri' })

const projectResponse = { status: 200, json: z.object({ project }) } as const

export const projectOperations = {
  createProject: operation({
    method: 'POST',
    path: '/v1/projects',
    group: 'Projects',
    summary: 'Create a project',
    access: 'caller',
    scope: 'deploy',
    params: empty,
    query: empty,
    body: z.strictObject({ name, slug, repo_url: repoUrl.optional(), repo_branch: branchName.optional() }),
    success: { status: 201, json: z.object({ project }) },
    errors: ['invalid_input', 'plan_limit_reached', 'email_not_verified', 'slug_taken', 'slug_reserved'],
    is_atomic: true,
  }),
  listProjects: operation({
    method: 'GET',
    path: '/v1/projects',
    group: 'Projects',
    summary: 'List projects, newest first',
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: pageQuery,
    success: { status: 200, json: z.object({ projects: z.array(project), next_cursor: z.string().nullable() }) },
    errors: ['invalid_input'],
  }),
  getProject: operation({
    method: 'GET',
    path: '/v1/projects/{slug}',
    resource: 'project',
    group: 'Projects',
    summary: 'Get a project',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: projectResponse,
    errors: ['project_not_found'],
  }),
  updateProject: operation({
    method: 'PATCH',
    path: '/v1/projects/{slug}',
    resource: 'project',
    group: 'Projects',
    summary: 'Change a project',
    description: '`memory_limit_mb` is limited to the maximum of the plan; `always_warm` needs a paid plan.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      name: name.optional(),
      repo_url: repoUrl.nullable().optional(),
      repo_branch: branchName.optional(),
      node_version: nodeVersion.optional(),
      install_command: command.optional(),
      build_command: command.optional(),
      root_directory: z
        .string()
        .min(limits.root_directory.min)
        .max(limits.root_directory.max)
        .refine(isInsideRepository, 'Use a folder inside the repository, such as apps/web.')
        .optional(),
      memory_limit_mb: z.number().int().min(limits.memory_mb.min).max(limits.memory_mb.max).optional(),
      always_warm: z.boolean().optional(),
      caching_enabled: z.boolean().optional(),
    }),
    success: projectResponse,
    errors: ['invalid_input', 'paid_plan_required', 'project_not_found'],
  }),
  deleteProject: operation({
    method: 'DELETE',
    path: '/v1/projects/{slug}',
    resource: 'project',
    group: 'Projects',
    summary: 'Delete a project permanently',
    description: 'Only for the owner of the account; team members get `forbidden` (our reading).',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 204 },
    errors: ['forbidden', 'project_not_found'],
  }),
  stopProject: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/stop',
    resource: 'project',
    group: 'Projects',
    summary: 'Stop a project until its next deployment',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ ok: z.boolean(), status: z.string() }) },
    errors: ['project_not_found'],
  }),
}

/** The maximum number of search results. */
export const maxSearchResults = 50

export const projectSearchOperations = {
  findProjects: operation({
    method: 'GET',
    path: '/instance/projects',
    group: 'Instance',
    summary: 'Search the projects, newest first',
    description: `Every word must occur in the name, the slug or the repository URL. Returns the newest ${maxSearchResults} matches.`,
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: z.object({ q: z.string().min(1).max(300) }),
    success: {
      status: 200,
      json: z.object({
        projects: z.array(project),
        count: z.number().int().describe('Number of matches.'),
        total: z.number().int().describe('Number of all projects.'),
      }),
    },
    errors: ['invalid_input'],
  }),
}
