import { Problem } from '../../contract/errors.ts'
import { isOwnOrigin } from '../authentication.ts'
import type { PublicRequest } from './public-route.ts'
import { escapeHtml, htmlPage } from '../html-page.ts'
import { type ApiResponse, jsonResponse, redirectResponse } from '../response.ts'

/** Shared by the HTML forms: cross-site check, parsing, and the session after signing in. */

export interface IssuedSession {
  secret: string
  max_age_s: number
}

/** Prevents another site from signing a visitor in as someone else. Browsers always send the origin of a form. */
export function crossSiteReason({ headers }: PublicRequest): string | undefined {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  const isForeign = (site !== undefined && site !== 'same-origin') || (origin !== undefined && !isOwnOrigin(origin, host))
  if (isForeign) return 'This form came from another site. Use the page of this instance.'
  if (site === undefined && origin === undefined) return 'A form needs an Origin header of this instance. In scripts, use an API token.'
  return undefined
}

/** The fields of a form or JSON body; missing fields are empty. */
export function parseFormFields<Name extends string>({ body, headers }: PublicRequest, ...names: Name[]): Record<Name, string> {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  const collect = (get: (name: string) => unknown) => Object.fromEntries(names.map((name) => [name, truncate(get(name))])) as Record<Name, string>
  if (type === 'application/x-www-form-urlencoded') {
    const form = new URLSearchParams(body.toString('utf8'))
    return collect((name) => form.get(name))
  }
  if (type !== 'application/json')
    throw new Problem('unsupported_media_type', `Send ${names.join(' and ')} as application/x-www-form-urlencoded, or as JSON.`)
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return collect((name) => (typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined))
  } catch (cause) {
    throw new Problem('invalid_json', 'The body is not valid JSON.', { cause })
  }
}

/** Limits the work of hashing: a longer password cannot be valid. */
const truncate = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 300) : '')

/**
 * Responds with a session. Cookies are shared by all ports of a host, so every app on this host could read or replace one. Browsers
 * therefore get the session in the response body, for the storage of our origin (renderer/public/sign-in.js). Scripts get a cookie, and
 * so do browsers on the network without HTTPS, which send no Sec-Fetch headers; apps have no separate ports there.
 */
export function respondSignedIn({ accepts_html, is_browser }: PublicRequest, cookie_name: string, session: IssuedSession): ApiResponse {
  const location = '/app/'
  if (!is_browser) {
    const cookie = sessionCookie(cookie_name, session)
    return accepts_html ? redirectResponse(303, location, cookie) : jsonResponse(200, { ok: true, location }, cookie)
  }
  const { secret } = session
  if (accepts_html) {
    const body = `<data id="session" value="${escapeHtml(secret)}"></data><p>Opening the dashboard. It needs JavaScript.</p>`
    return htmlPage(200, 'Signed in', body, { script: signInScript })
  }
  return jsonResponse(200, { ok: true, location, session: secret })
}

export const sessionCookie = (name: string, { secret, max_age_s }: IssuedSession) => ({
  'set-cookie': `${name}=${secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${Math.floor(max_age_s)}`,
})

/** A script of the dashboard: stores the session in the page, or submits a form that needs no confirmation. */
export const signInScript = '/app/sign-in.js'

/** The error above a form, and the attribute that links the field to it. */
export const renderAlert = (problem: string | undefined, escape: (text: string) => string) => ({
  alert: problem === undefined ? '' : `<p role="alert" id="problem">${escape(problem)}</p>`,
  described: problem === undefined ? '' : ' aria-describedby="problem"',
})
