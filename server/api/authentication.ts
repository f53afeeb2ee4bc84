import type { IncomingMessage } from 'node:http'
import { Problem } from '../contract/errors.ts'
import type { Caller } from '../features/context.ts'
import { isToken } from '../lib/token.ts'
import { headerValues } from './http-request.ts'

/** Looks credentials up by their hash; undefined: unknown, expired or revoked. */
export interface CredentialLookup {
  byToken(token: string): Promise<Caller | undefined>
  bySession(secret: string): Promise<Caller | undefined>
}

/** A request can have several cookies of one name, because all ports of a host share cookies. Each costs a lookup. */
const maxCookiesTried = 50

/** The dashboard's session, kept in the storage of its origin. Unlike a cookie, other ports of this host cannot read or replace it. */
export const sessionHeader = 'x-homeport-session'

/**
 * Identifies the caller by bearer token, else by the session header, else by a session cookie. An invalid Authorization header never
 * falls back to a session. Tokens in the query are ignored.
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
    'Authentication is required. Send a valid API token as “Authorization: Bearer svc_…”, or open the dashboard with a sign-in link (homeport open).',
  )

/**
 * CSRF check. Browsers send cookies automatically, so a state-changing request with a session must prove that it comes from our own page.
 * Bearer tokens are never sent automatically and are exempt.
 */
export function checkOrigin(req: IncomingMessage, caller: Caller): void {
  if (caller.via !== 'session' || req.method === 'GET' || req.method === 'HEAD') return
  const site = req.headers['sec-fetch-site']
  const { origin } = req.headers
  const isCrossSite = (site !== undefined && site !== 'same-origin') || (origin !== undefined && !isOwnOrigin(origin, req.headers.host))
  if (isCrossSite)
    throw new Problem('origin_not_allowed', 'This request came from another site. Use the dashboard of this instance, or an API token.')
  if (!isPreflightedContentType(req.headers['content-type'])) {
    throw new Problem('unsupported_media_type', 'With a session, state-changing requests need “Content-Type: application/json”.')
  }
  if (site === undefined && origin === undefined) {
    throw new Problem(
      'origin_not_allowed',
      'With a session, state-changing requests need an Origin header of this instance. In scripts, use an API token.',
    )
  }
}

/** Behind a TLS proxy the page's origin is https although this server speaks http. Loopback names have no proxy. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const name = host?.toLowerCase() ?? ''
  if (name === '') return false
  return origin === `http://${name}` || (origin === `https://${name}` && !/^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(name))
}

/** Types that need a CORS preflight from another site, and the types of uploads. */
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
