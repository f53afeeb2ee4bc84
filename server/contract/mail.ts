import { z } from 'zod'
import { operation } from './operation.ts'
import { dateTime, empty, projectParams } from './shared.ts'

export const mailLimits = {
  message_bytes: 25 * 2 ** 20,
  /** The oldest messages of a project beyond either are deleted. */
  messages: 500,
  project_bytes: 512 * 2 ** 20,
  /** A message is shown up to these lengths; the downloaded one is complete. */
  shown_html: 5 * 2 ** 20,
  shown_text: 2 ** 20,
} as const

export const mailMessage = z.object({
  id: z.string(),
  from: z.string(),
  to: z.array(z.string()).describe('The recipients that the app gave to the server, including hidden ones (Bcc).'),
  subject: z.string(),
  size_bytes: z.number().int(),
  attachments: z.number().int(),
  received_at: dateTime,
})
export type MailMessage = z.output<typeof mailMessage>

export const mailMessageDetails = mailMessage.extend({
  text: z.string().nullable(),
  html: z.string().nullable().describe('A document without scripts, forms and remote content, for a frame with an empty sandbox.'),
  is_shortened: z.boolean().describe('The message is too long to be shown as a whole. Download it instead.'),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  files: z.array(z.object({ index: z.number().int(), name: z.string(), content_type: z.string(), size_bytes: z.number().int() })),
})
export type MailMessageDetails = z.output<typeof mailMessageDetails>

const catcher = z.object({
  is_enabled: z.boolean(),
  host: z.string().nullable().describe('The address for programs on this machine; null while no project has its mail caught.'),
  port: z.number().int().nullable(),
  user: z.string(),
  unavailable: z.string().nullable().describe('Why the server does not receive messages.'),
})
export type MailCatcherStatus = z.output<typeof catcher>

const messageParams = projectParams.extend({ message: z.string() })

/** Instance-only operations: the email that the apps of a project send, which the instance stores and never forwards. */
export const mailOperations = {
  getMail: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/mail',
    resource: 'project',
    group: 'Instance',
    summary: 'Get the mail catcher of a project and its messages, newest first',
    description: `The last ${mailLimits.messages} messages are kept, up to ${mailLimits.project_bytes / 2 ** 20} MB together.`,
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ catcher, messages: z.array(mailMessage) }) },
    errors: ['project_not_found'],
  }),
  updateMail: operation({
    method: 'PATCH',
    path: '/instance/projects/{slug}/mail',
    resource: 'project',
    group: 'Instance',
    summary: 'Turn the mail catcher of a project on or off',
    description:
      'While it is on, apps get `SMTP_URL`, `SMTP_HOST`, `SMTP_PORT`, `SMTP_USER` and `SMTP_PASSWORD`, which replace variables of the same names. A deployed project is redeployed; previews follow with their next deployment. The password stays the same, and messages are kept.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({ is_enabled: z.boolean() }),
    success: { status: 200, json: z.object({ catcher, deployment_id: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found', 'runtime_not_isolated'],
  }),
  getMailMessage: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/mail/messages/{message}',
    resource: 'project',
    group: 'Instance',
    summary: 'Get a caught message',
    access: 'caller',
    scope: 'admin',
    params: messageParams,
    query: empty,
    success: { status: 200, json: z.object({ message: mailMessageDetails }) },
    errors: ['project_not_found', 'message_not_found'],
  }),
  downloadMailMessage: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/mail/messages/{message}/source.eml',
    resource: 'project',
    group: 'Instance',
    summary: 'Download a caught message as it was received',
    access: 'caller',
    scope: 'admin',
    params: messageParams,
    query: empty,
    success: { status: 200, content_type: 'application/octet-stream', is_stream: true },
    errors: ['project_not_found', 'message_not_found'],
  }),
  downloadMailAttachment: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/mail/messages/{message}/attachments/{index}',
    resource: 'project',
    group: 'Instance',
    summary: 'Download an attachment of a caught message',
    access: 'caller',
    scope: 'admin',
    params: messageParams.extend({ index: z.string() }),
    query: empty,
    success: { status: 200, content_type: 'application/octet-stream', is_stream: true },
    errors: ['project_not_found', 'message_not_found'],
  }),
  deleteMailMessage: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/mail/messages/{message}',
    resource: 'project',
    group: 'Instance',
    summary: 'Delete a caught message',
    access: 'caller',
    params: messageParams,
    query: empty,
    success: { status: 204 },
    errors: ['project_not_found', 'message_not_found'],
  }),
  deleteMailMessages: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/mail/messages',
    resource: 'project',
    group: 'Instance',
    summary: 'Delete all caught messages of a project',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 204 },
    errors: ['project_not_found'],
  }),
}
