import { Problem } from '../../contract/errors.ts'
import type { PublicRoute, PublicRequest } from './public-route.ts'
import { renderAlert, parseFormFields, crossSiteReason, respondSignedIn, type IssuedSession } from './forms.ts'
import { escapeHtml, htmlPage } from '../html-page.ts'
import { jsonResponse } from '../response.ts'
import type { ApiResponse } from '../response.ts'

/** Registration of new users, implemented by the features. */
export interface RegistrationService {
  signUpMode(): 'off' | 'invited' | 'open'
  /** Behaves the same whether the address is known or not. */
  signUp(email: string): Promise<void>
  canSendEmail(): boolean
  /** Behaves the same whether the address is known or not. */
  requestPasswordReset(email: string): Promise<void>
  /** The person a link is for; undefined if it is no longer valid. Does not consume the link. */
  verifying(code: string): Promise<PendingVerification | undefined>
  verify(attempt: { code: string; password: string; is_local: boolean }): Promise<RegistrationOutcome>
  findInvitation(code: string): Promise<{ email: string; owner_email: string } | undefined>
  acceptInvitation(attempt: { code: string; email: string; password: string; is_local: boolean }): Promise<RegistrationOutcome>
}

type PendingVerification = { email: string; asks: 'nothing' | 'new_password' | 'own_password' | 'other_password' }

/** `session: null`: verified, and the person signs in as usual. */
type RegistrationOutcome = { session: IssuedSession | null } | { gone: true } | { refused: string } | { wrong: true } | { wait_s: number }

/**
 * Pages without JavaScript: sign up, verify an address, reset a password, join a team. A GET changes nothing, because link previews send
 * GET requests too.
 */
export function accountPages({ registration, cookie_name }: { registration: RegistrationService; cookie_name: string }): PublicRoute[] {
  const codeOf = ({ query }: PublicRequest) => (query.getAll('code').length === 1 ? (query.get('code') ?? '') : '')

  const signUp = async (request: PublicRequest): Promise<ApiResponse> => {
    if (registration.signUpMode() !== 'open') return signUpClosed(request, registration.signUpMode())
    const crossSite = rejectCrossSite(request, 'Sign up', '/sign-up')
    if (crossSite) return crossSite
    const { email, problem } = readEmail(request)
    if (problem !== undefined) return signUpForm(400, email, problem)
    await registration.signUp(email)
    if (!request.accepts_html)
      return jsonResponse(202, { ok: true, message: 'A link is needed to continue. It is sent by email, or the owner of this instance has it.' })
    return htmlPage(
      202,
      'Check your email',
      `<p>To continue, open the link for <strong>${escapeHtml(email)}</strong> and choose a password. The link is sent by email. If this instance sends no email, ask its owner for the link.</p><p>Already have an account? <a href="/sign-in">Sign in</a></p>`,
    )
  }

  const forgot = async (request: PublicRequest): Promise<ApiResponse> => {
    const crossSite = rejectCrossSite(request, 'Reset your password', '/forgot')
    if (crossSite) return crossSite
    const { email, problem } = readEmail(request)
    if (problem !== undefined) return forgotPage(400, registration.canSendEmail(), email, problem)
    await registration.requestPasswordReset(email)
    if (!request.accepts_html) return jsonResponse(202, { ok: true, message: 'If this address has a password here, a link has been sent.' })
    return htmlPage(
      202,
      'Check your email',
      `<p>If <strong>${escapeHtml(email)}</strong> has a password here, a link for resetting it has been sent.</p><p>No email? Ask the owner of this instance for a link.</p>`,
    )
  }

  const verifyPage = async (request: PublicRequest): Promise<ApiResponse> => {
    const code = codeOf(request)
    const pending = await registration.verifying(code)
    return pending ? verifyForm(200, code, pending) : linkExpired(request, 'link')
  }

  const verify = async (request: PublicRequest): Promise<ApiResponse> => {
    const crossSite = rejectCrossSite(request, 'Verify your address', '/sign-in')
    if (crossSite) return crossSite
    const { code, password } = parseFormFields(request, 'code', 'password')
    const pending = await registration.verifying(code)
    const outcome = await registration.verify({ code, password, is_local: request.is_local })
    return respond(request, outcome, 'link', (status, problem) => verifyForm(status, code, pending ?? { email: '', asks: 'new_password' }, problem))
  }

  const joinPage = async (request: PublicRequest): Promise<ApiResponse> => {
    const code = codeOf(request)
    const pending = await registration.findInvitation(code)
    return pending ? joinForm(200, code, pending) : linkExpired(request, 'invitation')
  }

  const join = async (request: PublicRequest): Promise<ApiResponse> => {
    const crossSite = rejectCrossSite(request, 'Join a team', '/sign-in')
    if (crossSite) return crossSite
    const given = parseFormFields(request, 'code', 'email', 'password')
    const pending = await registration.findInvitation(given.code)
    const outcome = await registration.acceptInvitation({ ...given, is_local: request.is_local })
    return respond(request, outcome, 'invitation', (status, problem) =>
      joinForm(status, given.code, { email: given.email, owner_email: pending?.owner_email ?? '' }, problem),
    )
  }

  function respond(
    request: PublicRequest,
    outcome: RegistrationOutcome,
    linkKind: 'link' | 'invitation',
    form: (status: number, problem: string) => ApiResponse,
  ): ApiResponse {
    if ('gone' in outcome) return linkExpired(request, linkKind)
    if ('session' in outcome) {
      if (outcome.session) return respondSignedIn(request, cookie_name, outcome.session)
      if (!request.accepts_html) return jsonResponse(200, { ok: true, location: '/sign-in' })
      return htmlPage(200, 'Your address is verified', '<p><a href="/sign-in">Sign in</a>, or continue where you are already signed in.</p>')
    }
    if ('wait_s' in outcome) {
      const message = `Too many attempts. Try again in ${outcome.wait_s} s.`
      if (!request.accepts_html) throw new Problem('rate_limited', message, { retry_after_s: outcome.wait_s })
      const waiting = form(429, message)
      return { ...waiting, headers: { ...waiting.headers, 'retry-after': String(outcome.wait_s) } }
    }
    if ('refused' in outcome) {
      if (!request.accepts_html) throw new Problem('invalid_input', outcome.refused, { issues: [{ path: 'password', message: outcome.refused }] })
      return form(400, outcome.refused)
    }
    const message = 'The email or password is wrong. Try again.'
    if (!request.accepts_html) throw new Problem('unauthorized', message)
    return form(401, message)
  }

  return [
    {
      path: '/sign-up',
      rate_limit: true,
      handle: async (request) => (registration.signUpMode() === 'open' ? signUpForm(200, '') : signUpClosed(request, registration.signUpMode())),
    },
    { method: 'POST', path: '/sign-up', rate_limit: 'by_address', handle: signUp },
    { path: '/forgot', rate_limit: true, handle: async () => forgotPage(200, registration.canSendEmail(), '') },
    { method: 'POST', path: '/forgot', rate_limit: 'by_address', handle: forgot },
    { path: '/verify', rate_limit: 'by_address', handle: verifyPage },
    { method: 'POST', path: '/verify', rate_limit: 'by_address', handle: verify },
    { path: '/join', rate_limit: 'by_address', handle: joinPage },
    { method: 'POST', path: '/join', rate_limit: 'by_address', handle: join },
  ]
}

/** A loose check, because the link verifies the address. */
const isEmail = (text: string) => text.length <= 254 && /^[^\s@<>"',;()\\]+@[^\s@<>"',;()\\]+\.[^\s@<>"',;()\\.]+$/.test(text)

/** Throws for clients that do not accept HTML. */
function readEmail(request: PublicRequest): { email: string; problem?: string } {
  const email = parseFormFields(request, 'email').email.trim().toLowerCase()
  if (isEmail(email)) return { email }
  const problem = 'This is not an email address. Use an address such as name@example.com.'
  if (!request.accepts_html) throw new Problem('invalid_input', 'The email address is invalid.', { issues: [{ path: 'email', message: problem }] })
  return { email, problem }
}

function rejectCrossSite(request: PublicRequest, title: string, home: string): ApiResponse | undefined {
  const reason = crossSiteReason(request)
  if (reason === undefined) return undefined
  if (!request.accepts_html) throw new Problem('origin_not_allowed', reason)
  return htmlPage(403, title, `<p>${reason}</p><p><a href="${home}">Open the page</a></p>`)
}

function signUpClosed({ accepts_html }: PublicRequest, mode: 'off' | 'invited' | 'open'): ApiResponse {
  const message =
    mode === 'invited' ? 'New accounts need an invitation. Ask a member or the owner of this instance.' : 'Sign-up is turned off on this instance.'
  if (!accepts_html) throw new Problem('forbidden', message)
  return htmlPage(403, 'Sign-up is not available', `<p>${message}</p><p>Already have an account? <a href="/sign-in">Sign in</a></p>`)
}

/** Unknown, used, revoked and expired links get the same response, so that guessing reveals nothing. */
function linkExpired({ accepts_html }: PublicRequest, linkKind: 'link' | 'invitation'): ApiResponse {
  const message = `This ${linkKind} was already used, was revoked or has expired. Ask for a new one.`
  if (!accepts_html) throw new Problem('unauthorized', message)
  return htmlPage(401, `This ${linkKind} no longer works`, `<p>${message}</p><p>Already have an account? <a href="/sign-in">Sign in</a></p>`)
}

const emailField = (email: string, described: string) => `<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" autofocus value="${escapeHtml(email)}"${described}>`

function signUpForm(status: number, email: string, problem?: string): ApiResponse {
  const { alert, described } = renderAlert(problem, escapeHtml)
  return htmlPage(
    status,
    'Sign up',
    `${alert}
<form method="post" action="/sign-up">
${emailField(email, described)}
<button type="submit">Send verification link</button>
</form>
<p>You choose a password after opening the link. Already have an account? <a href="/sign-in">Sign in</a></p>`,
    { has_form: true },
  )
}

function forgotPage(status: number, sendsMail: boolean, email: string, problem?: string): ApiResponse {
  const { alert, described } = renderAlert(problem, escapeHtml)
  const form = `<form method="post" action="/forgot">
${emailField(email, described)}
<button type="submit">Send reset link</button>
</form>`
  return htmlPage(
    status,
    'Reset your password',
    `${alert}
${sendsMail ? form : '<p>This instance sends no email. Ask its owner for a link, which they can create in the list of people.</p>'}
<p>Are you the owner? On the machine that runs Homeport, <code>npx homeport open</code> signs you in, and <code>npx homeport password</code> sets a new password.</p>
<p><a href="/sign-in">Back to sign in</a></p>`,
    { has_form: sendsMail },
  )
}

const hiddenCode = (code: string) => `<input type="hidden" name="code" value="${escapeHtml(code)}">`

const passwordFields = {
  nothing: () => '',
  own_password: (described: string) => `<label for="password">Your password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="200" autofocus${described}>`,
  other_password: (described: string) => `<label for="password">New password (at least 10 characters)</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="10" maxlength="200" autofocus${described}>
<p>Leave this empty to keep your password. A new password signs you out everywhere else.</p>`,
  new_password: (described: string) => `<label for="password">Choose a password (at least 10 characters)</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="200" autofocus${described}>`,
}

function verifyForm(status: number, code: string, pending: PendingVerification, problem?: string): ApiResponse {
  const { alert, described } = renderAlert(problem, escapeHtml)
  return htmlPage(
    status,
    pending.asks === 'other_password' ? 'Reset your password' : 'Verify your address',
    `${alert}
<p>This link is for <strong>${escapeHtml(pending.email)}</strong>.</p>
<form method="post" action="/verify">
${hiddenCode(code)}
<input type="hidden" autocomplete="username" value="${escapeHtml(pending.email)}">
${passwordFields[pending.asks](described)}
<button type="submit">${pending.asks === 'nothing' ? 'Verify address' : 'Continue'}</button>
</form>
${pending.asks === 'own_password' ? '<p>If you never chose a password, someone else created this account. Ask the owner of this instance to remove it.</p>' : ''}`,
    { has_form: true },
  )
}

function joinForm(status: number, code: string, pending: { email: string; owner_email: string }, problem?: string): ApiResponse {
  const { alert, described } = renderAlert(problem, escapeHtml)
  return htmlPage(
    status,
    'Join a team',
    `${alert}
<p><strong>${escapeHtml(pending.owner_email)}</strong> invites you to use their projects.</p>
<form method="post" action="/join">
${hiddenCode(code)}
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" value="${escapeHtml(pending.email)}">
<label for="password">Your password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="200" autofocus${described}>
<button type="submit">Join</button>
</form>
<p>New here? Choose a password of at least 10 characters. Signed in without a password? Join in the dashboard under Account, or run <code>npx homeport team join LINK</code>.</p>`,
    { has_form: true },
  )
}
