/** Handlers of the tokens, for the double: they answer in the contract's shapes. */
import type { Handlers } from '../../server/contract/index.ts'
import type { Context } from '../../server/features/context.ts'
import { newId } from '../../server/lib/id.ts'
import { newToken } from '../../server/lib/token.ts'

const now = '2026-01-31T12:00:00.000Z'
const record = (name: string) => ({
  id: newId('tok'),
  name,
  prefix: 'svc_',
  last4: 'abcd',
  last_used_at: null,
  expires_at: null,
  created_at: now,
})

export function createTokenHandlers(): Pick<Handlers<Context>, 'createToken' | 'listTokens' | 'revokeToken'> {
  return {
    createToken: async (_, { body }) => ({ token: newToken(), api_token: record(body.name) }),
    listTokens: async () => ({ api_tokens: [record('one')], next_cursor: null }),
    async revokeToken() {},
  }
}
