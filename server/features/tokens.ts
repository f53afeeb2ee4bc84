import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { ApiToken } from '../contract/tokens.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashSecret, newToken } from '../lib/token.ts'
import { paginate } from '../store/pagination.ts'
import { insertToken } from '../store/users.ts'
import type { TokenRow } from '../store/tables.ts'
import { deleteToken, listTokens } from '../store/tokens.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { parseCursor } from './projects.ts'

type TokenHandlers = Pick<OperationHandlers, 'createToken' | 'listTokens' | 'revokeToken'>

const day_ms = 24 * 3600_000

/** API tokens of the caller. Tokens of platform runs and sessions are not listed. */
export function createTokenHandlers(deps: Pick<FeatureDeps, 'store' | 'clock'>): TokenHandlers {
  const { db } = deps.store
  return {
    async createToken({ caller, saveResponse }, { body }) {
      const token = newToken()
      const now = deps.clock.now()
      const row: TokenRow = {
        id: newId('tok'),
        user_id: caller.user_id,
        kind: 'api',
        name: body.name,
        hash: hashSecret(token),
        last4: token.slice(-4),
        last_used_at: null,
        expires_at: body.expires_in_days === undefined ? null : isoTime(now + body.expires_in_days * day_ms),
        created_at: isoTime(now),
      }
      const answer = { token, api_token: presentToken(row) }
      await db.write((tx) => {
        insertToken(tx, row)
        saveResponse?.(tx, answer)
      })
      return answer
    },

    async listTokens({ caller }, { query }) {
      const limit = query.limit ?? limits.page.default
      const list = `tokens ${caller.user_id}`
      const before = parseCursor(list, query.cursor)
      const found = await db.read((tx) => listTokens(tx, { user_id: caller.user_id, before, limit: limit + 1 }))
      const { rows, next_cursor } = paginate(list, found, limit)
      return { api_tokens: rows.map(presentToken), next_cursor }
    },

    async revokeToken({ caller }, { params }) {
      if (!(await db.write((tx) => deleteToken(tx, caller.user_id, params.id))))
        throw new Problem('token_not_found', 'You have no token with this ID. List your tokens with GET /v1/tokens.')
    },
  }
}

const presentToken = ({ id, name, last4, last_used_at, expires_at, created_at }: TokenRow): ApiToken => ({
  id,
  name,
  prefix: 'svc_',
  last4,
  last_used_at,
  expires_at,
  created_at,
})
