import { z } from 'zod'
import { operation } from './operation.ts'
import { dateTime, empty } from './shared.ts'

const name = z.string().trim().min(1).max(60)
const hue = z.int().min(0).max(359).describe('Color of its frame, as a hue in degrees.')
const token = z
  .string()
  .max(200)
  .regex(/^[\w.~+/=-]+$/, 'Use only the token, without “Bearer”.')

/** Another instance, or a hosted account, in this dashboard. Its token is never returned by the API. */
const remote = z.object({
  id: z.string(),
  name: z.string(),
  origin: z.string().describe('Origin of its API, such as https://deploy.example.com. The token is sent only there.'),
  hue,
  is_signed_in: z.boolean().describe('Whether a token is stored; without one, the dashboard asks for a token first.'),
  keeps_token: z
    .enum(['keychain', 'session'])
    .describe('`keychain`: encrypted with a key in the system’s keychain; `session`: in memory until you sign out or Homeport stops.'),
  created_at: dateTime,
})
export type Remote = z.output<typeof remote>

const idParams = z.object({ id: z.string() })

export const remoteOperations = {
  listRemotes: operation({
    method: 'GET',
    path: '/instance/remotes',
    group: 'Instance',
    summary: 'List other instances',
    description: 'Their API is available under /remote/{id}; the platform adds the token.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ remotes: z.array(remote) }) },
    errors: [],
  }),
  addRemote: operation({
    method: 'POST',
    path: '/instance/remotes',
    group: 'Instance',
    summary: 'Add another instance by URL and API token',
    description: 'The token is checked immediately. An instance that does not respond, or refuses the token, is not added.',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({
      url: z.string().max(300).describe('URL, such as https://deploy.example.com; http:// is allowed only in the local network.'),
      token,
      name: name.optional().describe('Default: its hostname.'),
      hue: hue.optional(),
    }),
    success: { status: 201, json: z.object({ remote }) },
    errors: ['invalid_input', 'remote_exists', 'remote_token_refused', 'remote_unreachable'],
  }),
  updateRemote: operation({
    method: 'PATCH',
    path: '/instance/remotes/{id}',
    group: 'Instance',
    summary: 'Change the name, color or token of another instance',
    access: 'owner',
    params: idParams,
    query: empty,
    body: z.strictObject({ name: name.optional(), hue: hue.optional(), token: token.optional() }),
    success: { status: 200, json: z.object({ remote }) },
    errors: ['invalid_input', 'remote_not_found', 'remote_token_refused', 'remote_unreachable'],
  }),
  deleteRemote: operation({
    method: 'DELETE',
    path: '/instance/remotes/{id}',
    group: 'Instance',
    summary: 'Remove another instance and its token',
    access: 'owner',
    params: idParams,
    query: empty,
    success: { status: 204 },
    errors: ['remote_not_found'],
  }),
}
