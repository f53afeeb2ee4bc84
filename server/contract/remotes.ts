import { z } from 'zod'
import { operation } from './operation.ts'
import { dateTime, empty } from './shared.ts'

const name = z.string().trim().min(1).max(60)
const hue = z.int().min(0).max(359).describe('Colour of the frame around it, in degrees of the colour wheel.')
const token = z
  .string()
  .max(200)
  .regex(/^[\w.~+/=-]+$/, 'Give the token alone, without “Bearer”.')

/** Another instance, or a hosted account, that this dashboard can show. Its token never leaves the platform. */
const remote = z.object({
  id: z.string(),
  name: z.string(),
  origin: z.string().describe('Where its API is, such as https://deploy.example.com; the token goes there and nowhere else.'),
  hue,
  is_signed_in: z.boolean().describe('Whether a token for it is held; without one it asks for a token first.'),
  keeps_token: z
    .enum(['keychain', 'session'])
    .describe('`keychain`: sealed by the key that the system’s keychain holds; `session`: in memory, until you sign out or Homeport ends.'),
  created_at: dateTime,
})
export type Remote = z.output<typeof remote>

const idParams = z.object({ id: z.string() })

export const remoteOperations = {
  listRemotes: operation({
    method: 'GET',
    path: '/instance/remotes',
    group: 'Instance',
    summary: 'Other instances that the dashboard can show',
    description: 'Their API is reached below /remote/{id}, with the token put in on the way.',
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
    summary: 'Add another instance by address and API token',
    description: 'The token is tried at once: an instance that does not answer, or does not take it, is not added.',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({
      url: z.string().max(300).describe('Its address, such as https://deploy.example.com; http:// only within the own network.'),
      token,
      name: name.optional().describe('Absent: its host name.'),
      hue: hue.optional(),
    }),
    success: { status: 201, json: z.object({ remote }) },
    errors: ['invalid_input', 'remote_exists', 'remote_token_refused', 'remote_unreachable'],
  }),
  updateRemote: operation({
    method: 'PATCH',
    path: '/instance/remotes/{id}',
    group: 'Instance',
    summary: 'Rename another instance, colour it, or give it a new token',
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
    summary: 'Forget another instance and its token',
    access: 'owner',
    params: idParams,
    query: empty,
    success: { status: 204 },
    errors: ['remote_not_found'],
  }),
}
