import { Problem } from '../../contract/errors.ts'
import { isOwnOrigin } from '../authentication.ts'
import type { PublicRequest } from './public-route.ts'
import { escapeHtml, htmlPage } from '../html-page.ts'
import { type ApiResponse, jsonResponse, redirectResponse } from '../response.ts'

/** What the forms of our own pages have in common: where they come from, what they send, the session that they give. */

export interface IssuedSession {
  secret: string
  max_age_s: number
}

/** Another site could sign a visitor in as somebody else. A browser always says where a form comes from. */
export function crossSiteReason({ headers }: PublicRequest): string | undefined {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  const isForeign = (site !== undefined && site !== 'same-origin') || (origin !== undefined && !isOwnOrigin(origin, host))
  if (isForeign) return 'This form came from another site. Use the page of this instance.'
  if (site === undefined && origin === undefined) return 'A form needs an Origin header of this instance. Scripts use an API token.'
  return undefined
}

/** Fields of a form or of JSON, empty when they are missing. */
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
    throw new Problem('invalid_json', 'The body is not JSON.', { cause })
  }
}

/** Longer than any that can be set, hence wrong, and no work for the hash. */
const truncate = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 300) : '')

/**
 * Lets somebody in. Cookies ignore ports: a browser would give one to every app on this host, and take one from it. So a browser gets
 * its session in the answer alone, for the storage of our own origin (renderer/public/sign-in.js). A script gets a cookie, and so does
 * a browser on the network without HTTPS, which does not say what it is: apps have no ports of their own there.
 */
export function respondSignedIn({ accepts_html, is_browser }: PublicRequest, cookie_name: string, session: IssuedSession): ApiResponse {
  const location = '/app/'
  if (!is_browser) {
    const cookie = sessionCookie(cookie_name, session)
    return accepts_html ? redirectResponse(303, location, cookie) : jsonResponse(200, { ok: true, location }, cookie)
  }
  const { secret } = session
  if (accepts_html) {
    const body = `<data id="session" value="${escapeHtml(secret)}"></data><p>The dashboard opens. It needs JavaScript.</p>`
    return htmlPage(200, 'Signed in', body, { script: signInScript })
  }
  return jsonResponse(200, { ok: true, location, session: secret })
}

export const sessionCookie = (name: string, { secret, max_age_s }: IssuedSession) => ({
  'set-cookie': `${name}=${secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${Math.floor(max_age_s)}`,
})

/** Of the dashboard: keeps the session that a page brings, or sends the form that needs no question. */
export const signInScript = '/app/sign-in.js'

/** What is wrong, above a form, and what ties its field to it. */
export const renderAlert = (problem: string | undefined, escape: (text: string) => string) => ({
  alert: problem === undefined ? '' : `<p role="alert" id="problem">${escape(problem)}</p>`,
  described: problem === undefined ? '' : ' aria-describedby="problem"',
})
