import { z } from 'zod'
import { deploymentStatus } from './deployments.ts'
import { operation } from './operation.ts'
import { dateTime, empty, projectIdParams, projectParams } from './shared.ts'

export const preview = z.object({
  branch: z.string(),
  host: z
    .string()
    .describe(
      '`{branch}--{slug}.localhost`: one label, cut with a short hash to 63 characters; of two branches with one label the later has the hash.',
    ),
  url: z.string().nullable().describe('Set once the branch has been ready.'),
  status: deploymentStatus.describe('Of its newest deployment.'),
  deployment_id: z.string().describe('The deployment that serves it; while none does, its newest.'),
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
    group: 'Deployments',
    summary: 'List the open previews, the newest change first',
    description: [
      'The repository is watched: one on the machine of the instance by file events, one elsewhere by `ls-remote` about every 60 s. A new commit on the production branch deploys production, also the first time; one on another branch makes or renews its preview; a deleted branch closes its preview.',
      'Our reading: linking a repository deploys nothing by itself, and the branches that are there by then get previews with their next commit. A commit that was deployed by hand is not deployed again by its push. A change of `repo_branch` deploys nothing; the preview of the new production branch closes. Another `repo_url` closes the previews of the old one. While a project is stopped no push is deployed and its previews do not serve; the next deployment brings them back. A look at the repository that fails closes nothing. Variables of previews that change reach a preview with its next deployment.',
      '`status` is that of the newest deployment of the branch; commit and `deployment_id` are of the one that serves.',
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
    group: 'Deployments',
    summary: 'The screenshot of a deployment, once it is taken',
    description: '`variant` is `desktop` (1280x800) or `mobile` (390x844).',
    access: 'caller',
    // Any other text is looked up too, and is 404.
    params: projectIdParams.extend({ variant: z.string().meta({ enum: [...screenshotVariants] }) }),
    query: empty,
    // A picture of a deployment does not change.
    success: { status: 200, content_type: 'image/png', max_age_s: 86_400 },
    errors: ['project_not_found', 'deployment_not_found', 'screenshot_not_found'],
  }),
}

/** How the repository of a project is watched. */
export const watching = z.object({
  /** A push to the production branch deploys it, one to another branch makes a preview. */
  deploys_pushes: z.boolean().describe('Whether a push to the production branch deploys it.'),
  previews: z.boolean().describe('Whether other branches get previews.'),
  preview_databases: z.boolean().describe('Whether each preview has a database of its own, copied from the project’s when the preview is made.'),
  state: z.enum(['off', 'watching', 'failing']).describe('Off: nothing is linked, or both switches are off.'),
  message: z.string().nullable().describe('Why it fails, and what to do.'),
  checked_at: dateTime.nullable(),
})
export type Watching = z.output<typeof watching>

const watchingResponse = z.object({ watching })

/** What an instance adds for its dashboard. */
export const watchOperations = {
  getWatching: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/watching',
    group: 'Instance',
    summary: 'How the repository of a project is watched',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: watchingResponse },
    errors: ['project_not_found'],
  }),
  updateWatching: operation({
    method: 'PATCH',
    path: '/instance/projects/{slug}/watching',
    group: 'Instance',
    summary: 'Change what a push does',
    description: 'Previews that are switched off are closed.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({ deploys_pushes: z.boolean().optional(), previews: z.boolean().optional(), preview_databases: z.boolean().optional() }),
    success: { status: 200, json: watchingResponse },
    errors: ['invalid_input', 'project_not_found'],
  }),
  checkRepository: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/watching/check',
    group: 'Instance',
    summary: 'Look at the repository now',
    description: 'Answers when the look is over and what it found is queued.',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: watchingResponse },
    errors: ['project_not_found', 'project_not_connected'],
  }),
}
