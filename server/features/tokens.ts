import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { TokenScope } from '../contract/token-scopes.ts'
import type { ApiToken, ScopedToken } from '../contract/tokens.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashSecret, newToken } from '../lib/token.ts'
import { paginate } from '../store/pagination.ts'
import { insertToken } from '../store/users.ts'
import type { ProjectRow, TokenRow } from '../store/tables.ts'
import { findProject } from '../store/projects.ts'
import { deleteToken, listTokens } from '../store/tokens.ts'
import { requireProject } from './access.ts'
import type { Caller, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { parseCursor } from './projects.ts'

type TokenHandlers = Pick<OperationHandlers, 'createToken' | 'listTokens' | 'revokeToken' | 'createScopedToken' | 'listScopedTokens'>

const day_ms = 24 * 3600_000

/** API tokens of the caller. Tokens of platform runs and sessions are not listed. */
export function createTokenHandlers(deps: Pick<FeatureDeps, 'store' | 'clock'>): TokenHandlers {
  const { db } = deps.store

  const readPage = async (caller: Caller, query: { limit?: number | undefined; cursor?: string | undefined }) => {
    const limit = query.limit ?? limits.page.default
    const list = `tokens ${caller.user_id}`
    const before = parseCursor(list, query.cursor)
    return db.read((tx) => {
      const { rows, next_cursor } = paginate(list, listTokens(tx, { user_id: caller.user_id, before, limit: limit + 1 }), limit)
      return { rows: rows.map((row) => ({ row, project: row.project_id === null ? undefined : findProject(tx, row.project_id) })), next_cursor }
    })
  }

  return {
    async createToken({ caller, saveResponse }, { body }) {
      const { token, row } = prepareToken(caller, body, deps.clock.now())
      const answer = { token, api_token: presentToken(row) }
      await db.write((tx) => {
        insertToken(tx, row)
        saveResponse?.(tx, answer)
      })
      return answer
    },

    async createScopedToken({ caller, saveResponse }, { body }) {
      return db.write((tx) => {
        const project = body.project === undefined ? undefined : requireProject(tx, caller, body.project)
        const { token, row } = prepareToken(caller, { ...body, project_id: project?.id }, deps.clock.now())
        const answer = { token, api_token: presentScopedToken(row, project) }
        insertToken(tx, row)
        saveResponse?.(tx, answer)
        return answer
      })
    },

    async listTokens({ caller }, { query }) {
      const { rows, next_cursor } = await readPage(caller, query)
      return { api_tokens: rows.map(({ row }) => presentToken(row)), next_cursor }
    },

    async listScopedTokens({ caller }, { query }) {
      const { rows, next_cursor } = await readPage(caller, query)
      return { api_tokens: rows.map(({ row, project }) => presentScopedToken(row, project)), next_cursor }
    },

    async revokeToken({ caller }, { params }) {
      if (!(await db.write((tx) => deleteToken(tx, caller.user_id, params.id))))
        throw new Problem('token_not_found', 'You have no token with this ID. List your tokens with GET /v1/tokens.')
    },
  }
}

function prepareToken(
  caller: Caller,
  {
    name,
    expires_in_days: days,
    scope,
    project_id,
  }: {
    name: string
    expires_in_days?: number | undefined
    scope?: TokenScope | undefined
    project_id?: string | undefined
  },
  now: number,
): { token: string; row: TokenRow } {
  const token = newToken()
  const row: TokenRow = {
    id: newId('tok'),
    user_id: caller.user_id,
    kind: 'api',
    name,
    hash: hashSecret(token),
    last4: token.slice(-4),
    last_used_at: null,
    expires_at: days === undefined ? null : isoTime(now + days * day_ms),
    created_at: isoTime(now),
    scope: scope ?? null,
    project_id: project_id ?? null,
  }
  return { token, row }
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

const presentScopedToken = (row: TokenRow, project: ProjectRow | undefined): ScopedToken => ({
  ...presentToken(row),
  scope: row.scope,
  project: project ? { slug: project.slug, name: project.name } : null,
})
