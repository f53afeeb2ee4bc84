import { Problem } from '../../contract/errors.ts'
import type { PublicRequest } from './public-route.ts'
import { renderAlert, parseFormFields, crossSiteReason, respondSignedIn, type IssuedSession, sessionCookie, signInScript } from './forms.ts'
import { escapeHtml, htmlPage } from '../html-page.ts'
import { redirectResponse } from '../response.ts'
import type { ApiResponse } from '../response.ts'

export interface SignInOptions {
  /** Redeems a one-time code; undefined if it is wrong, used or expired. */
  redeemSignInCode(code: string): Promise<IssuedSession | undefined>
  /** The person a one-time code is for. Does not redeem it. */
  findSignInCode(code: string): Promise<{ email: string; is_instance_owner: boolean } | undefined>
  /** `wait_s`: seconds to wait after too many failed attempts. */
  signInByPassword(attempt: {
    email: string
    password: string
    is_local: boolean
  }): Promise<{ session: IssuedSession } | { wrong: true } | { wait_s: number }>
  cookie_name: string
  /** The initial value of the email field. */
  owner_email: string
  registration: { signUpMode(): 'off' | 'invited' | 'open' }
}

/**
 * A one-time sign-in link, or the sign-in form without a code. In a browser a GET changes nothing: the page submits the code. It does so
 * automatically if the link was not opened from another page, or if the code is the instance owner's. Otherwise it asks first, because a
 * member's page could sign its visitors in as that member. Scripts redeem the code at once.
 */
export async function showSignIn(request: PublicRequest, options: SignInOptions): Promise<ApiResponse> {
  const codes = request.query.getAll('code')
  const code = codes.length === 1 ? (codes[0] ?? '') : ''
  if (request.is_head) return redirectResponse(303, '/app/')
  // A prefetch must not redeem the code. Browsers discard an unsuccessful prefetch and load the page again when it is opened.
  if (isPrefetch(request)) return htmlPage(503, 'Open this link', '<p>A sign-in link works once. Open it to sign in.</p>')
  if (codes.length === 0 && request.accepts_html) return signInForm(200, options.owner_email, options)
  if (request.is_browser) {
    const person = code === '' ? undefined : await options.findSignInCode(code)
    return person ? confirmation(request, code, person) : linkExpired(request)
  }
  const session = code === '' ? undefined : await options.redeemSignInCode(code)
  return session ? redirectResponse(303, '/app/', sessionCookie(options.cookie_name, session)) : linkExpired(request)
}

async function redeemCode(request: PublicRequest, code: string, options: SignInOptions): Promise<ApiResponse> {
  const session = await options.redeemSignInCode(code)
  return session ? respondSignedIn(request, options.cookie_name, session) : linkExpired(request)
}

function linkExpired({ accepts_html }: PublicRequest): ApiResponse {
  if (!accepts_html) throw new Problem('unauthorized', 'This sign-in link was already used or has expired. Create a new one with: homeport open')
  return htmlPage(
    401,
    'This link no longer works',
    '<p>A sign-in link works once and only for a short time. Create a new one in a terminal:</p><pre><code>npx homeport open</code></pre><p>Or <a href="/sign-in">sign in with a password</a>.</p>',
  )
}

function confirmation(
  { headers }: PublicRequest,
  code: string,
  { email, is_instance_owner }: { email: string; is_instance_owner: boolean },
): ApiResponse {
  const site = headers['sec-fetch-site']
  const isOwn = is_instance_owner || site === 'none' || site === 'same-origin'
  const warning = isOwn ? '' : '<p>You came here from another page. Continue only if you requested this link yourself.</p>'
  return htmlPage(
    200,
    'Sign in',
    `<p>This link signs this browser in as <strong>${escapeHtml(email)}</strong>.</p>${warning}
<form method="post" action="/sign-in"${isOwn ? ' data-sends-itself' : ''}>
<input type="hidden" name="code" value="${escapeHtml(code)}">
<button type="submit">Sign in</button>
</form>`,
    { has_form: true, script: signInScript },
  )
}

const isPrefetch = ({ headerValues: header }: PublicRequest) =>
  [...header('sec-purpose'), ...header('purpose')].some((value) => value.includes('prefetch'))

/** Signs in with a code or with email and password. The error does not reveal whether the email or the password was wrong. */
export async function submitSignIn(request: PublicRequest, options: SignInOptions): Promise<ApiResponse> {
  const { accepts_html, is_local } = request
  const crossSite = crossSiteReason(request)
  if (crossSite) {
    if (!accepts_html) throw new Problem('origin_not_allowed', crossSite)
    return htmlPage(403, 'Use the sign-in page of this instance', `<p>${crossSite}</p><p><a href="/sign-in">Open the sign-in page</a></p>`)
  }
  const { code, email, password } = parseFormFields(request, 'code', 'email', 'password')
  if (code !== '') return redeemCode(request, code, options)
  const result = await options.signInByPassword({ email, password, is_local })

  if ('session' in result) return respondSignedIn(request, options.cookie_name, result.session)
  if ('wait_s' in result) {
    const message = `Too many failed attempts. Try again in ${result.wait_s} s.`
    if (!accepts_html) throw new Problem('rate_limited', message, { retry_after_s: result.wait_s })
    const response = signInForm(429, email, options, message)
    return { ...response, headers: { ...response.headers, 'retry-after': String(result.wait_s) } }
  }
  const message = 'The email or password is wrong. Try again, or create a sign-in link on the machine of the instance: homeport open'
  if (!accepts_html) throw new Problem('unauthorized', message)
  return signInForm(401, email, options, message)
}

function signInForm(status: number, email: string, { registration }: SignInOptions, problem?: string): ApiResponse {
  const { alert, described } = renderAlert(problem, escapeHtml)
  return htmlPage(
    status,
    'Sign in',
    `${alert}
<form method="post" action="/sign-in">
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" value="${escapeHtml(email)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="200" autofocus${described}>
<button type="submit">Sign in</button>
</form>
<p><a href="/forgot">Forgot your password?</a></p>
${registration.signUpMode() === 'open' ? '<p>New here? <a href="/sign-up">Sign up</a></p>' : ''}
<p>No password yet? On the machine that runs Homeport, <code>npx homeport open</code> signs you in without one, and <code>npx homeport password</code> sets one.</p>`,
    { has_form: true },
  )
}
