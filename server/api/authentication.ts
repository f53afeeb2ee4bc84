import type { IncomingMessage } from 'node:http'
import { Problem } from '../contract/errors.ts'
import type { Caller } from '../features/context.ts'
import { isToken } from '../lib/token.ts'
import { headerValues } from './http-request.ts'

/** How the gate learns who somebody is. Both look up a hash; undefined: not known, expired or revoked. */
export interface CredentialLookup {
  byToken(token: string): Promise<Caller | undefined>
  bySession(secret: string): Promise<Caller | undefined>
}

/** There may be several cookies of one name, since other ports of this host share the jar. Each costs a look-up. */
const maxCookiesTried = 50

/** The session of the dashboard, from the storage of its own origin: unlike a cookie, no other port of this host sees or replaces it. */
export const sessionHeader = 'x-homeport-session'

/**
 * Who calls: by bearer token, by the header of the dashboard, else by a session cookie. An Authorization header that is
 * not in order is nobody, and never falls back to another. A token in the query is no token.
 */
export function createCallerLookup(options: { authenticate: CredentialLookup; cookie_name: string }) {
  return async function findCaller(req: IncomingMessage): Promise<Caller | undefined> {
    if (req.headers.authorization !== undefined) {
      const values = headerValues(req, 'authorization')
      const token = values.length === 1 ? values[0]?.match(/^bearer (svc_[0-9A-Za-z]+)$/i)?.[1] : undefined
      return token !== undefined && isToken(token) ? options.authenticate.byToken(token) : undefined
    }
    const sessionHeaders = headerValues(req, sessionHeader)
    const sessionCaller = sessionHeaders.length === 1 && sessionHeaders[0] ? await options.authenticate.bySession(sessionHeaders[0]) : undefined
    if (sessionCaller) return sessionCaller
    if (req.headers.cookie === undefined) return undefined
    for (const secret of cookieValues(req.headers.cookie, options.cookie_name).slice(0, maxCookiesTried)) {
      const caller = await options.authenticate.bySession(secret)
      if (caller) return caller
    }
    return undefined
  }
}

export const unauthorized = () =>
  new Problem(
    'unauthorized',
    'Sign in first: send a valid API token as “Authorization: Bearer svc_…”, or open the dashboard with a sign-in link (homeport open).',
  )

/**
 * A browser sends a cookie on its own, so a request of a session that changes something has to show that our own page made it.
 * A bearer token is never sent by itself and needs none of this.
 */
export function checkOrigin(req: IncomingMessage, caller: Caller): void {
  if (caller.via !== 'session' || req.method === 'GET' || req.method === 'HEAD') return
  const site = req.headers['sec-fetch-site']
  const { origin } = req.headers
  const isCrossSite = (site !== undefined && site !== 'same-origin') || (origin !== undefined && !isOwnOrigin(origin, req.headers.host))
  if (isCrossSite)
    throw new Problem('origin_not_allowed', 'This request came from another site. Use the dashboard of this instance, or an API token.')
  if (!isPreflightedContentType(req.headers['content-type'])) {
    throw new Problem('unsupported_media_type', 'With a session cookie a request that changes something has to say “Content-Type: application/json”.')
  }
  if (site === undefined && origin === undefined) {
    throw new Problem(
      'origin_not_allowed',
      'With a session cookie a request that changes something needs an Origin header of this instance. Scripts use an API token.',
    )
  }
}

/** Behind a TLS proxy the page is https while we speak http; by a name of loopback there is no proxy. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const name = host?.toLowerCase() ?? ''
  if (name === '') return false
  return origin === `http://${name}` || (origin === `https://${name}` && !/^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(name))
}

/** Types that a foreign page cannot send without asking first (a preflight), and those of the upload. */
const isPreflightedContentType = (type: string | undefined) =>
  type !== undefined &&
  /^(application\/json|application\/zip|application\/gzip|application\/x-gzip|application\/sql|application\/x-tar\+gzip|multipart\/form-data)\s*(;|$)/i.test(
    type,
  )

function cookieValues(header: string, name: string): string[] {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
    .filter((value) => /^[\w.-]{1,200}$/.test(value))
}
