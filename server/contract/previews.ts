import { z } from 'zod'
import { deploymentOperations, deploymentStatus } from './deployments.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, projectIdParams, projectParams } from './shared.ts'

export const preview = z.object({
  branch: z.string().describe('The branch, or `pull/{number}` for a pull request.'),
  host: z
    .string()
    .describe(
      '`{branch}--{slug}.localhost`, or `pr-{number}--{slug}.localhost` for a pull request: one DNS label, cut to 63 characters with a short hash. If two branches have the same label, the later one gets the hash.',
    ),
  url: z.string().nullable().describe('Set once a deployment of the branch was ready.'),
  status: deploymentStatus.describe('Status of the latest deployment.'),
  deployment_id: z.string().describe('The current deployment; without one, the latest.'),
  commit_sha: z.string().nullable(),
  commit_message: z.string().nullable(),
  is_cold: z.boolean(),
  created_at: dateTime,
  updated_at: dateTime,
  last_request_at: dateTime.nullable(),
})
export type Preview = z.output<typeof preview>

export const previewOperations = {
  listPreviews: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/previews',
    resource: 'project',
    group: 'Deployments',
    summary: 'List open previews, most recently updated first',
    description: [
      'The repository is watched: a local one by file events, a remote one by `ls-remote` about every 60 s. A new commit on the production branch deploys production, also the first time. A new commit on another branch creates or updates its preview. A deleted branch closes its preview.',
      'Our reading: linking a repository does not deploy, and existing branches get a preview with their next commit. A commit that was deployed manually is not deployed again when it is pushed. Changing `repo_branch` does not deploy; the preview of the new production branch is closed. Changing `repo_url` closes the previews of the old repository. While a project is stopped, pushes are not deployed and previews do not serve; the next deployment resumes both. A failed check of the repository closes no preview. Changed preview variables apply from the next deployment of a preview.',
      '`status` is that of the latest deployment of the branch; the commit and `deployment_id` are those of the current one.',
    ].join(' '),
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ previews: z.array(preview) }) },
    errors: ['project_not_found'],
  }),
}

export const screenshotVariants = ['desktop', 'mobile'] as const
export type ScreenshotVariant = (typeof screenshotVariants)[number]

export const screenshotOperations = {
  getScreenshot: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/deployments/{id}/screenshot/{variant}.png',
    resource: 'deployment',
    group: 'Deployments',
    summary: 'Get the screenshot of a deployment, once it exists',
    description: '`variant` is `desktop` (1280x800) or `mobile` (390x844).',
    access: 'caller',
    // A plain string, because an unknown variant is a 404 and not invalid input.
    params: projectIdParams.extend({ variant: z.string().meta({ enum: [...screenshotVariants] }) }),
    query: empty,
    // The screenshot of a deployment never changes.
    success: { status: 200, content_type: 'image/png', max_age_s: 86_400 },
    errors: ['project_not_found', 'deployment_not_found', 'screenshot_not_found'],
  }),
}

export const skippedPush = z.object({
  branch: z.string(),
  commit_sha: z.string(),
  commit_message: z.string(),
  changed_files: z.number().int().describe('Files that differ from the deployed commit. None of them matches `watch_paths`.'),
  skipped_at: dateTime,
})
export type SkippedPush = z.output<typeof skippedPush>

/** How the repository of a project is watched. */
export const watching = z.object({
  deploys_pushes: z.boolean().describe('Deploy pushes to the production branch.'),
  previews: z.boolean().describe('Create previews for other branches.'),
  preview_databases: z.boolean().describe('Give each preview its own database, copied from the project’s when the preview is created.'),
  pull_requests: z
    .boolean()
    .describe(
      'Create previews for pull requests, from the refs that the forge publishes. Off at first, because this runs the code of everyone who may open one.',
    ),
  pull_request_secrets: z
    .boolean()
    .describe(
      'Give previews of pull requests what other previews get: sensitive variables and those of all environments, a copy of the database, snapshots of volumes. Everyone who may open a pull request can then read them.',
    ),
  state: z.enum(['off', 'watching', 'failing']).describe('`off`: no repository is linked, or nothing is deployed automatically.'),
  message: z.string().nullable().describe('Why watching fails, and what to do.'),
  checked_at: dateTime.nullable(),
  skipped: z
    .array(skippedPush)
    .describe('The last push of each branch that was not deployed, because it changes nothing in `watch_paths`; the newest first.'),
})
export type Watching = z.output<typeof watching>

const watchingResponse = z.object({ watching })

/** Instance-only operations for the dashboard. */
export const watchOperations = {
  getWatching: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/watching',
    resource: 'project',
    group: 'Instance',
    summary: 'Get how the repository of a project is watched',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: watchingResponse },
    errors: ['project_not_found'],
  }),
  updateWatching: operation({
    method: 'PATCH',
    path: '/instance/projects/{slug}/watching',
    resource: 'project',
    group: 'Instance',
    summary: 'Configure automatic deployments',
    description:
      'Turning previews off closes them. Previews of pull requests can be turned on where apps are isolated, elsewhere only in projects of the instance owner (403 `runtime_not_isolated`). A pull request gets a preview with the first change of its head after that. The preview is closed when the ref of the pull request disappears, its head is in the production branch, or GitHub no longer publishes its merge.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: watching
      .pick({ deploys_pushes: true, previews: true, preview_databases: true, pull_requests: true, pull_request_secrets: true })
      .partial()
      .strict(),
    success: { status: 200, json: watchingResponse },
    errors: ['invalid_input', 'project_not_found', 'runtime_not_isolated'],
  }),
  checkRepository: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/watching/check',
    resource: 'project',
    group: 'Instance',
    summary: 'Check the repository now',
    description: 'Responds when the check is done and new commits are queued.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    success: { status: 200, json: watchingResponse },
    errors: ['project_not_found', 'project_not_connected'],
  }),
  deploySkippedPush: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/watching/deploy',
    resource: 'project',
    group: 'Instance',
    summary: 'Deploy a push that was skipped',
    description: 'Deploys the last push of a branch, although it changes nothing in `watch_paths`.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.strictObject({ branch: z.string().min(limits.branch.min).max(limits.branch.max) }),
    success: deploymentOperations.deployProject.success,
    errors: ['invalid_input', 'project_not_found', 'project_not_connected', 'skipped_push_not_found', 'runtime_not_isolated'],
    is_atomic: true,
  }),
}
