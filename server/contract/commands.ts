import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, projectParams } from './shared.ts'

const { columns, rows } = limits.terminal
const terminalSize = z.strictObject({
  columns: z.number().int().min(columns.min).max(columns.max),
  rows: z.number().int().min(rows.min).max(rows.max),
})

const argument = z
  .string()
  .max(limits.one_off_command.argument)
  .refine((text) => !text.includes('\0'), 'A NUL character is not allowed.')

/** A text message of the client of a one-off command; `command-frames.ts` describes them. */
export const commandClientMessage = z.discriminatedUnion('type', [
  terminalSize.extend({ type: z.literal('resize') }),
  z.strictObject({ type: z.literal('end_input') }),
  z.strictObject({
    type: z.literal('acknowledge'),
    bytes: z
      .number()
      .int()
      .min(1)
      .max(2 ** 31),
  }),
])

/** Instance-only operations: one-off commands in the environment of a service. */
export const commandOperations = {
  createCommand: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/commands',
    resource: 'project',
    group: 'Instance',
    summary: 'Prepare a one-off command in the environment of a service',
    description:
      'The command runs in a new replica of the live version, next to the ones that get traffic, with the files, variables, database, network and volumes of the service. It starts when a WebSocket attaches to `/instance/commands/attach` within 30 s, and ends with that WebSocket. The ticket is valid once and is sent as the subprotocol `homeport.ticket.TICKET` next to `homeport.command.v1`. Its output is not stored.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      command: z.array(argument).min(1).max(limits.one_off_command.arguments).nullable().describe('Null: an interactive shell, bash or sh.'),
      service: z.string().min(1).max(100).optional().describe('The main service when absent.'),
      branch: z.string().min(limits.branch.min).max(limits.branch.max).optional().describe('The preview of this branch instead of production.'),
      terminal: terminalSize.nullable().describe('Null: no terminal; standard output and standard error are separate.'),
    }),
    success: {
      status: 201,
      json: z.object({
        command: z.object({
          id: z.string(),
          service: z.string().nullable().describe('Null for a project that is one app.'),
          deployment_id: z.string().describe('The live version.'),
          ticket: z.string(),
          expires_at: dateTime,
        }),
      }),
    },
    errors: ['invalid_input', 'project_not_found', 'service_not_found', 'service_not_started', 'too_many_commands', 'runtime_not_isolated'],
  }),
}
