import type { DeployHookResult } from '../../contract/deploy-hooks.ts'
import { Problem } from '../../contract/errors.ts'
import { isToken } from '../../lib/token.ts'
import { jsonResponse } from '../response.ts'
import type { PublicRequest, PublicRoute } from './public-route.ts'

/** Deploys for a token; undefined for a wrong one. */
export type DeployHookRunner = (token: string) => Promise<DeployHookResult | undefined>

/**
 * `POST /hooks/deploy/{token}`, for services that only know a URL, and `POST /hooks/deploy` with the token as `Authorization: Bearer` or `X-Deploy-Token`.
 * The body is ignored. No log contains the path.
 */
export function deployHookRoutes(run: DeployHookRunner): PublicRoute[] {
  const answer = async (token: string | undefined) => {
    const result = token !== undefined && isToken(token, 'hpd') ? await run(token) : undefined
    if (!result) throw new Problem('unauthorized', 'The token of this deploy hook is missing or wrong, or the hook was deleted. Use the current URL.')
    return jsonResponse(result.is_new ? 201 : 200, result)
  }
  return [
    { method: 'POST', path: '/hooks/deploy/{token}', rate_limit: 'by_address', handle: ({ params }) => answer(params.token) },
    { method: 'POST', path: '/hooks/deploy', rate_limit: 'by_address', handle: (request) => answer(readHeaderToken(request)) },
  ]
}

/** Undefined without a token, and with several different ones. */
function readHeaderToken({ headerValues }: PublicRequest): string | undefined {
  const bearers = headerValues('authorization').map((value) => /^bearer +(\S+)$/i.exec(value.trim())?.[1] ?? '')
  const tokens = new Set([...bearers, ...headerValues('x-deploy-token').map((value) => value.trim())])
  return tokens.size === 1 ? [...tokens][0] : undefined
}
