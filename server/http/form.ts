import { Problem } from '../contract/errors.ts'
import { isOwnOrigin } from './caller.ts'
import type { DoorRequest } from './doors.ts'

/** What the forms of our own pages have in common: where they come from, what they send, the session that they give. */

export interface Session {
  secret: string
  max_age_s: number
}

/** Another site could sign a visitor in as somebody else. A browser always says where a form comes from. */
export function foreignReason({ headers }: DoorRequest): string | undefined {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  const isForeign = (site !== undefined && site !== 'same-origin') || (origin !== undefined && !isOwnOrigin(origin, host))
  if (isForeign) return 'This form came from another site. Use the page of this instance.'
  if (site === undefined && origin === undefined) return 'A form needs an Origin header of this instance. Scripts use an API token.'
  return undefined
}

/** Fields of a form or of JSON, empty when they are missing. */
export function fields<Name extends string>({ body, headers }: DoorRequest, ...names: Name[]): Record<Name, string> {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  const collect = (get: (name: string) => unknown) => Object.fromEntries(names.map((name) => [name, cut(get(name))])) as Record<Name, string>
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
const cut = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 300) : '')

export const sessionCookie = (name: string, session: Session) => ({
  'set-cookie': `${name}=${session.secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${Math.floor(session.max_age_s)}`,
})

/** What is wrong, above a form, and what ties its field to it. */
export const alertOf = (problem: string | undefined, escape: (text: string) => string) => ({
  alert: problem === undefined ? '' : `<p role="alert" id="problem">${escape(problem)}</p>`,
  described: problem === undefined ? '' : ' aria-describedby="problem"',
})
