import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, pageQuery, slug } from './shared.ts'
import { tokenScopes } from './token-scopes.ts'

export const apiToken = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  last4: z.string(),
  last_used_at: dateTime.nullable(),
  expires_at: dateTime.nullable(),
  created_at: dateTime,
})
export type ApiToken = z.output<typeof apiToken>

export const scopedToken = apiToken.extend({
  scope: z.enum(tokenScopes).nullable().describe('Null: everything that its user may do, like `admin`.'),
  project: z.object({ slug: z.string(), name: z.string() }).nullable().describe('The only project that the token sees; null: all of its user.'),
})
export type ScopedToken = z.output<typeof scopedToken>

const newToken = {
  name: z.string().min(limits.token_name.min).max(limits.token_name.max),
  expires_in_days: z.number().int().min(limits.token_days.min).max(limits.token_days.max).optional(),
}

export const tokenOperations = {
  createToken: operation({
    method: 'POST',
    path: '/v1/tokens',
    group: 'API tokens',
    summary: 'Create an API token',
    description:
      'The token is only in this response, because only its hash is stored. It has all permissions of the user who created it (our reading).',
    access: 'caller',
    params: empty,
    query: empty,
    body: z.strictObject(newToken),
    success: { status: 201, json: z.object({ token: z.string(), api_token: apiToken }) },
    errors: ['invalid_input'],
    is_atomic: true,
  }),
  listTokens: operation({
    method: 'GET',
    path: '/v1/tokens',
    group: 'API tokens',
    summary: 'List my API tokens, newest first',
    access: 'caller',
    scope: 'admin',
    params: empty,
    query: pageQuery,
    success: { status: 200, json: z.object({ api_tokens: z.array(apiToken), next_cursor: z.string().nullable() }) },
    errors: ['invalid_input'],
  }),
  revokeToken: operation({
    method: 'DELETE',
    path: '/v1/tokens/{id}',
    group: 'API tokens',
    summary: 'Revoke a token',
    description: 'The next request with the token is refused; open streams end within 5 s. A token can revoke itself.',
    access: 'caller',
    params: z.object({ id: z.string() }),
    query: empty,
    success: { status: 204 },
    errors: ['token_not_found'],
  }),
}

/** Instance-only operations: tokens with a scope and a project. Those of /v1 list and revoke them too. */
export const scopedTokenOperations = {
  createScopedToken: operation({
    method: 'POST',
    path: '/instance/tokens',
    group: 'Instance',
    summary: 'Create an API token with a scope, for all projects or one',
    description:
      'Like createToken. Another operation than the scope includes is a 403 `insufficient_scope`. For a token with a project, other projects do not exist. The token is deleted with its project.',
    access: 'caller',
    params: empty,
    query: empty,
    body: z.strictObject({ ...newToken, scope: z.enum(tokenScopes).optional(), project: slug.optional() }),
    success: { status: 201, json: z.object({ token: z.string(), api_token: scopedToken }) },
    errors: ['invalid_input', 'project_not_found'],
    is_atomic: true,
  }),
  listScopedTokens: operation({
    method: 'GET',
    path: '/instance/tokens',
    group: 'Instance',
    summary: 'List my API tokens with their scopes and projects, newest first',
    access: 'caller',
    scope: 'admin',
    params: empty,
    query: pageQuery,
    success: { status: 200, json: z.object({ api_tokens: z.array(scopedToken), next_cursor: z.string().nullable() }) },
    errors: ['invalid_input'],
  }),
}
