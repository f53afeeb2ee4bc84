import { z } from 'zod'
import { planFactNames } from './build-plan.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { managedNames } from './managed-names.ts'
import { projectOperations } from './projects.ts'
import { empty, projectParams } from './shared.ts'

const fact = z.object({
  name: z.enum(planFactNames),
  value: z.string().nullable().describe('null: there is none, such as no build command.'),
  origin: z.string().describe('Such as `package.json scripts.start`, `.nvmrc`, `compose.yaml line 12`, `project setting` or `default`.'),
})

const plannedService = z.object({
  name: z.string(),
  kind: z.enum(['web', 'worker', 'cron', 'image']),
  is_main: z.boolean().describe('Whether it serves the project’s address.'),
  is_public: z.boolean(),
  build: z.number().int().nullable().describe('Index in `builds`; null for a prebuilt image.'),
  depends_on: z.array(z.string()),
  volumes: z.array(z.string()).describe('Names of volumes.'),
  facts: z.array(fact),
})

const plannedBuild = z.object({
  services: z.array(z.string()),
  framework: z.string(),
  facts: z.array(fact),
  notes: z.array(z.string()),
  dockerfile: z.object({ path: z.string(), text: z.string(), is_generated: z.boolean() }).nullable(),
})

const plannedManagedService = z.object({
  name: z.enum(managedNames),
  label: z.string(),
  image: z.string().nullable().describe('null: it is part of Homeport.'),
  variables: z.array(z.string()).describe('Names of the variables that the apps get.'),
  is_listed: z.boolean().describe('homeport.yaml lists it. One that it does not list is kept.'),
  is_added: z.boolean().describe('The project has it. The next deployment of production adds one that it does not have.'),
  origin: z.string().describe('Such as `homeport.yaml line 3`, or `project setting` when the project has it and the file does not list it.'),
})

const planProblem = z.object({
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  message: z.string(),
  hint: z.string(),
})

const sourceApp = z.object({
  directory: z.string().describe('The value for `root_directory`.'),
  name: z.string(),
  framework: z.string(),
})

export const plannedSource = z.object({
  file: z.string().nullable().describe('The configuration file that was read; null: the app is detected.'),
  root_directory: z.string(),
  services: z.array(plannedService),
  builds: z.array(plannedBuild),
  // Missing in plans of an older instance.
  managed: z.array(plannedManagedService).default([]).describe('Managed services that the file lists, or the project has.'),
  facts: z.array(fact).describe('Facts about the source as a whole, such as the release command.'),
  missing_variables: z.array(z.string()).describe('Variables that the source requires and the project does not have.'),
  notes: z.array(z.string()),
  problems: z.array(planProblem).describe('Why the source cannot be deployed; `services` is empty then.'),
  apps: z.array(sourceApp).describe('The apps of a repository with several, when no configuration file lists them.'),
  homeport_yaml: z.string().nullable().describe('An equivalent homeport.yaml; null with problems.'),
  commit: z.object({ branch: z.string(), sha: z.string(), message: z.string() }).nullable().describe('null for a folder.'),
})
export type PlannedSource = z.output<typeof plannedSource>
export type PlannedService = PlannedSource['services'][number]
export type PlannedBuild = PlannedSource['builds'][number]
export type PlannedManagedService = PlannedSource['managed'][number]
export type SourceApp = PlannedSource['apps'][number]

const choice = {
  root_directory: projectOperations.updateProject.body.shape.root_directory.optional(),
  apps: z
    .array(z.string().min(1).max(limits.root_directory.max))
    .max(limits.apps)
    .optional()
    .describe('Folders of `apps`: plans them as services of one project. For a project without this field, those of its settings.'),
}
const path = z.string().min(1).max(4096).describe('An absolute path on the machine of the instance.')
const planned = { status: 200, json: z.object({ plan: plannedSource }) } as const
const clones =
  'Fetches the repository into a temporary folder and only reads files. A source that cannot be deployed is a 200 with `problems`; a repository that cannot be fetched is 502 `source_not_fetched`.'

export const sourcePlanOperations = {
  planProject: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/plan',
    resource: 'project',
    group: 'Instance',
    summary: 'Plan a deployment of the linked repository without deploying',
    description: clones,
    access: 'caller',
    scope: 'read',
    params: projectParams,
    query: empty,
    body: z.strictObject(choice),
    success: planned,
    errors: ['invalid_input', 'project_not_found', 'project_not_connected', 'source_not_fetched'],
  }),
  planRepository: operation({
    method: 'POST',
    path: '/instance/plans/repository',
    group: 'Instance',
    summary: 'Plan a deployment of a repository that no project has yet',
    description: clones,
    access: 'caller',
    scope: 'deploy',
    params: empty,
    query: empty,
    body: z.strictObject({
      repo_url: projectOperations.createProject.body.shape.repo_url.unwrap(),
      repo_branch: projectOperations.createProject.body.shape.repo_branch,
      ...choice,
    }),
    success: planned,
    errors: ['invalid_input', 'source_not_fetched'],
  }),
  planFolder: operation({
    method: 'POST',
    path: '/instance/plans/folder',
    group: 'Instance',
    summary: 'Plan a deployment of a folder of this machine without deploying',
    description: 'Only reads files of the folder.',
    access: 'owner',
    scope: 'deploy',
    params: empty,
    query: empty,
    body: z.strictObject({ path, ...choice }),
    success: planned,
    errors: ['invalid_input'],
  }),
  saveFolderPlan: operation({
    method: 'POST',
    path: '/instance/plans/folder/save',
    group: 'Instance',
    summary: 'Write the plan of a folder into it as homeport.yaml',
    description: 'Never replaces a file: 409 `file_exists` if the folder has a homeport.yaml.',
    access: 'owner',
    scope: 'deploy',
    params: empty,
    query: empty,
    body: z.strictObject({ path, ...choice }),
    success: { status: 201, json: z.object({ file: z.string() }) },
    errors: ['invalid_input', 'file_exists'],
  }),
}
