import { purgeWebhookBody } from '../../contract/cache.ts'
import { Problem } from '../../contract/errors.ts'
import type { PurgeScope } from '../../features/cache-purge.ts'
import type { PublicRoute, PublicRequest } from './public-route.ts'
import { parseBody } from '../parse-input.ts'
import { jsonResponse } from '../response.ts'

/** What the inbound webhook does, by a purge token. */
export interface PurgeWebhook {
  /** The project whose token this is; undefined for a wrong one and for a slug that nobody has. */
  findProject(slug: string, token: string): Promise<string | undefined>
  purge(projectId: string, scope: PurgeScope): Promise<number>
}

/** `POST /hooks/cache/{slug}`: what a CMS calls when something was published. */
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
          'Send the purge token of this project as “Authorization: Bearer hpp_…”, as “X-Purge-Token” or as “?token=”. A rotated one no longer works.',
        )
      return jsonResponse(200, { ok: true, purged: await webhook.purge(projectId, readPurgeScope(request)) })
    },
  }
}

/** The one token of a request, by whichever way; undefined when there is none, or more than one. */
function readPurgeToken({ headerValues: header, query }: PublicRequest): string | undefined {
  const bearers = header('authorization').map((value) => /^bearer +(\S+)$/i.exec(value.trim())?.[1] ?? '')
  const tokens = new Set([...bearers, ...header('x-purge-token').map((value) => value.trim()), ...query.getAll('token')])
  return tokens.size === 1 ? [...tokens][0] : undefined
}

function readPurgeScope({ body, headers }: PublicRequest): PurgeScope {
  // Nothing is of no type: what a CMS says about an empty body does not matter.
  if (body.length === 0) return { all: true }
  const { tags, urls } = parseBody(purgeWebhookBody, body, { type: headers['content-type'], encoding: headers['content-encoding'] })
  return tags ? { tags } : urls ? { urls } : { all: true }
}
