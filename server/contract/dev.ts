import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, okResponse, projectParams } from './shared.ts'

const port = z.number().int().min(1).max(65_535)

export const devSession = z.object({
  id: z.string(),
  status: z.enum(['starting', 'running']),
  url: z.string(),
  https_url: z.string().nullable(),
  host: z.string(),
  is_production_address: z.boolean().describe('Whether it uses the address of the project. False: it has its own address, named like a preview.'),
  folder: z.string(),
  branch: z.string().nullable(),
  fork_branch: z.string().nullable().describe('The branch whose own copy of production’s data it uses; null: none.'),
  command: z.string(),
  framework: z.string().nullable(),
  port,
  started_at: dateTime,
})
export type DevSession = z.output<typeof devSession>

/** Why a development server lost its address: `stopped` by a user, `closed` with the command that held it, or with its project. */
export const devSessionEnd = z.enum(['stopped', 'closed', 'project_stopped'])

export const devSessionEvents = { session: z.object({ id: z.string() }), end: z.object({ reason: devSessionEnd }) }

const sessionParams = projectParams.extend({ session: z.string() })

/** Instance-only operations: development servers behind the addresses of a project. Only the owner of the instance can change them. */
export const devOperations = {
  listDevSessions: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/dev',
    resource: 'project',
    group: 'Instance',
    summary: 'List the development servers of a project',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ sessions: z.array(devSession) }) },
    errors: ['project_not_found'],
  }),
  createDevSession: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/dev',
    resource: 'project',
    group: 'Instance',
    summary: 'Start a development session',
    description:
      'Only for programs on the machine of the instance. The address shows a page until the session is `running`. The session ends when the stream of its events closes, or if the stream is not opened within 15 s. A linked worktree, and every session after the first, has its own address. If the branch has its own copy of production’s data, its managed services and prebuilt images are started with that copy, unless its preview runs them. If another request ends the session before all of them have started, the response is `dev_session_not_found`. `variables` are those of the project with addresses for this machine; write-only ones are left out.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      folder: z.string().min(1).max(4096),
      branch: z.string().min(limits.branch.min).max(limits.branch.max).nullable(),
      is_linked_worktree: z.boolean(),
      command: z.string().min(1).max(limits.command.max),
      framework: z.string().min(1).max(50).nullable(),
      port,
      host_header: z
        .enum(['localhost', 'public'])
        .describe(
          'Whether requests reach the server with the host `localhost:PORT`, which every server accepts, or with the address of the project.',
        ),
    }),
    success: {
      status: 201,
      json: z.object({
        session: devSession,
        variables: z.record(z.string(), z.string()),
        left_out: z.array(z.string()).describe('Names of write-only variables.'),
        notes: z.array(z.string()),
      }),
    },
    errors: [
      'invalid_input',
      'project_not_found',
      'dev_session_exists',
      'dev_session_not_found',
      'dev_server_not_local',
      'service_not_started',
      'forbidden',
    ],
  }),
  updateDevSession: operation({
    method: 'PATCH',
    path: '/instance/projects/{slug}/dev/{session}',
    resource: 'project',
    group: 'Instance',
    summary: 'Route an address to its development server',
    description: 'The session becomes `running`.',
    access: 'caller',
    scope: 'deploy',
    params: sessionParams,
    query: empty,
    body: z.strictObject({ address: z.enum(['127.0.0.1', '::1']), port }),
    success: { status: 200, json: z.object({ session: devSession }) },
    errors: ['invalid_input', 'project_not_found', 'dev_session_not_found', 'dev_server_not_local', 'forbidden'],
  }),
  followDevSession: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/dev/{session}/events',
    resource: 'project',
    group: 'Instance',
    summary: 'Stream the events of a development session',
    description: 'The session ends when the last of these streams is closed.',
    access: 'caller',
    scope: 'deploy',
    params: sessionParams,
    query: empty,
    success: { status: 200, events: devSessionEvents },
    errors: ['project_not_found', 'dev_session_not_found', 'forbidden'],
  }),
  endDevSession: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/dev/{session}',
    resource: 'project',
    group: 'Instance',
    summary: 'Route the address of a development server to the production build again',
    description: 'The command that started the development server stops it.',
    access: 'caller',
    scope: 'deploy',
    params: sessionParams,
    query: empty,
    success: { status: 200, json: okResponse },
    errors: ['project_not_found', 'dev_session_not_found', 'forbidden'],
  }),
}
