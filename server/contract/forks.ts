import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, projectParams } from './shared.ts'
import { volumeSnapshot } from './volumes.ts'

const branch = z.string().min(limits.branch.min).max(limits.branch.max)

const copiedVolume = z.object({
  name: z.string(),
  size_bytes: z.number().int().nullable().describe('Null when the runtime does not know it.'),
})

export const fork = z.object({
  branch: z.string(),
  from_branch: z.string().nullable().describe('The branch whose data was copied; null for production.'),
  volumes: z.array(copiedVolume).describe('Sizes at the time of the copy. Managed services have their data in `managed-NAME`.'),
  database_bytes: z.number().int().nullable().describe('Size of the PostgreSQL database at the time of the copy; null without one.'),
  duration_ms: z.number().int(),
  created_at: dateTime,
  is_copying: z.boolean().describe('This copy is being replaced.'),
  url: z.string().nullable().describe('Address of the preview of the branch; null while there is none. The data is kept until there is one.'),
})
export type Fork = z.output<typeof fork>

const forkSource = z.object({
  volumes: z.array(copiedVolume),
  has_database: z.boolean(),
})
export type ForkSource = z.output<typeof forkSource>

/** Instance-only operations: branches with their own copy of production's data. */
export const forkOperations = {
  listForks: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/forks',
    resource: 'project',
    group: 'Instance',
    summary: 'List the branches that have their own copy of production’s data',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ forks: z.array(fork), production: forkSource.describe('What a copy would contain now.') }) },
    errors: ['project_not_found'],
  }),
  forkEnvironment: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/forks',
    resource: 'project',
    group: 'Instance',
    summary: 'Give a branch its own copy of production’s data',
    description: [
      'Copies all volumes, including those of managed services, and the PostgreSQL database at a single point in time: production is frozen during the copy, and its requests wait.',
      'The preview of the branch is stopped during the copy. Without a preview, the data is kept until there is one; development servers of the branch can use it immediately. Managed services have a separate password in each branch.',
      'Data that the branch had is replaced; snapshots and a dump of it are taken first. If the copy fails or is interrupted, the branch keeps its previous data.',
    ].join(' '),
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      branch,
      from_branch: branch.optional().describe('Copy the data of this branch’s preview instead of production’s.'),
    }),
    success: {
      status: 200,
      json: z.object({
        fork,
        replaced: z.array(z.object({ volume: z.string(), snapshot: volumeSnapshot })).describe('Snapshots of the volumes that the branch had.'),
        dump_id: z.string().nullable().describe('The dump of the database that the branch had.'),
        deployment_id: z
          .string()
          .nullable()
          .describe('The new deployment of the preview, which gets the address of a database that it did not have before.'),
      }),
    },
    errors: [
      'invalid_input',
      'project_not_found',
      'build_in_progress',
      'dev_session_exists',
      'database_unavailable',
      'storage_full',
      'runtime_unavailable',
    ],
  }),
  removeFork: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/forks',
    resource: 'project',
    group: 'Instance',
    summary: 'Remove a branch’s copy of production’s data',
    description: 'An open preview continues with empty volumes and without a database. Snapshots of its volumes are taken first.',
    access: 'caller',
    params: projectParams,
    query: z.object({ branch }),
    success: { status: 200, json: z.object({ deployment_id: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found', 'fork_not_found', 'build_in_progress', 'dev_session_exists', 'runtime_unavailable'],
  }),
}
