import { purgeWebhookBody } from '../../contract/cache.ts'
import { Problem } from '../../contract/errors.ts'
import type { PurgeScope } from '../../features/cache-purge.ts'
import type { PublicRoute, PublicRequest } from './public-route.ts'
import { parseBody } from '../parse-input.ts'
import { jsonResponse } from '../response.ts'

/** Purges for requests with a purge token. */
export interface PurgeWebhook {
  /** The ID of the project; undefined for a wrong token or an unknown slug. */
  findProject(slug: string, token: string): Promise<string | undefined>
  purge(projectId: string, scope: PurgeScope): Promise<number>
}

/** `POST /hooks/cache/{slug}`: called by a CMS after publishing. */
export function purgeWebhookRoute(webhook: PurgeWebhook): PublicRoute {
  return {
    method: 'POST',
    path: '/hooks/cache/{slug}',
    rate_limit: 'by_address',
    async handle(request) {
      const token = readPurgeToken(request)
      const projectId = token === undefined ? undefined : await webhook.findProject(request.params.slug ?? '', token)
      if (projectId === undefined)
        throw new Problem(
          'unauthorized',
          'The purge token is missing or wrong. Send the project’s current token as “Authorization: Bearer hpp_…”, as “X-Purge-Token” or as “?token=”.',
        )
      return jsonResponse(200, { ok: true, purged: await webhook.purge(projectId, readPurgeScope(request)) })
    },
  }
}

/** The purge token of a request; undefined if there is none, or several different ones. */
function readPurgeToken({ headerValues, query }: PublicRequest): string | undefined {
  const bearers = headerValues('authorization').map((value) => /^bearer +(\S+)$/i.exec(value.trim())?.[1] ?? '')
  const tokens = new Set([...bearers, ...headerValues('x-purge-token').map((value) => value.trim()), ...query.getAll('token')])
  return tokens.size === 1 ? [...tokens][0] : undefined
}

function readPurgeScope({ body, headers }: PublicRequest): PurgeScope {
  // The content type of an empty body is ignored.
  if (body.length === 0) return { all: true }
  const { tags, urls } = parseBody(purgeWebhookBody, body, { type: headers['content-type'], encoding: headers['content-encoding'] })
  return tags ? { tags } : urls ? { urls } : { all: true }
}
