import { purgeHookBody } from '../contract/cache.ts'
import { Problem } from '../contract/errors.ts'
import type { PurgeScope } from '../features/purge.ts'
import type { Door, DoorRequest } from './doors.ts'
import { parseBody } from './parse.ts'
import { json } from './respond.ts'

/** What the inbound webhook does, by a purge token. */
export interface PurgeHook {
  /** The project whose token this is; undefined for a wrong one and for a slug that nobody has. */
  projectOf(slug: string, token: string): Promise<string | undefined>
  purge(projectId: string, what: PurgeScope): Promise<number>
}

/** `POST /hooks/cache/{slug}`: what a CMS calls when something was published. */
export function purgeHookDoor(hook: PurgeHook): Door {
  return {
    method: 'POST',
    path: '/hooks/cache/{slug}',
    is_counted: 'by_address',
    async answer(request) {
      const token = tokenIn(request)
      const projectId = token === undefined ? undefined : await hook.projectOf(request.params.slug ?? '', token)
      if (projectId === undefined)
        throw new Problem(
          'unauthorized',
          'Send the purge token of this project as “Authorization: Bearer hpp_…”, as “X-Purge-Token” or as “?token=”. A rotated one no longer works.',
        )
      return json(200, { ok: true, purged: await hook.purge(projectId, scopeIn(request)) })
    },
  }
}

/** The one token of a request, by whichever way; undefined when there is none, or more than one. */
function tokenIn({ header, query }: DoorRequest): string | undefined {
  const bearers = header('authorization').map((value) => /^bearer +(\S+)$/i.exec(value.trim())?.[1] ?? '')
  const tokens = new Set([...bearers, ...header('x-purge-token').map((value) => value.trim()), ...query.getAll('token')])
  return tokens.size === 1 ? [...tokens][0] : undefined
}

function scopeIn({ body, headers }: DoorRequest): PurgeScope {
  // Nothing is of no type: what a CMS says about an empty body does not matter.
  if (body.length === 0) return { all: true }
  const { tags, urls } = parseBody(purgeHookBody, body, { type: headers['content-type'], encoding: headers['content-encoding'] })
  return tags ? { tags } : urls ? { urls } : { all: true }
}
