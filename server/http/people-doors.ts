import { Problem } from '../contract/errors.ts'
import type { Door, DoorRequest } from './doors.ts'
import { alertOf, fields, foreignReason, letIn, type Session } from './form.ts'
import { escapeHtml, page } from './page.ts'
import { json } from './respond.ts'
import type { Answer } from './respond.ts'

/** How somebody new comes in; what decides is the features'. */
export interface Joining {
  mode(): 'off' | 'invited' | 'open'
  /** Answers alike whether the address is known or not. */
  signUp(email: string): Promise<void>
  sends_mail(): boolean
  /** Answers alike whether the address is known or not. */
  forgot(email: string): Promise<void>
  /** Whom a link is for; undefined when it is not good any more. Looking uses nothing up. */
  verifying(code: string): Promise<Verifying | undefined>
  verify(attempt: { code: string; password: string; is_local: boolean }): Promise<Entered>
  invited(code: string): Promise<{ email: string; owner_email: string } | undefined>
  join(attempt: { code: string; email: string; password: string; is_local: boolean }): Promise<Entered>
}

type Verifying = { email: string; asks: 'nothing' | 'new_password' | 'own_password' | 'other_password' }

/** Without a session: done, and one signs in as ever. */
type Entered = { session: Session | null } | { gone: true } | { refused: string } | { wrong: true } | { wait_s: number }

/**
 * Pages that work without a script: to ask for an account, to prove an address, to choose another password, to join a team. A GET changes nothing: previews
 * of links ask too.
 */
export function peopleDoors({ joining, cookie_name }: { joining: Joining; cookie_name: string }): Door[] {
  const codeOf = ({ query }: DoorRequest) => (query.getAll('code').length === 1 ? (query.get('code') ?? '') : '')

  const signUp = async (request: DoorRequest): Promise<Answer> => {
    if (joining.mode() !== 'open') return closed(request, joining.mode())
    const foreign = refuseForeign(request, 'Sign up', '/sign-up')
    if (foreign) return foreign
    const { email, problem } = emailIn(request)
    if (problem !== undefined) return signUpForm(400, email, problem)
    await joining.signUp(email)
    if (!request.accepts_html) return json(202, { ok: true, message: 'The next step is the link for this address.' })
    return page(
      202,
      'One more step',
      `<p>The next step is a link for <strong>${escapeHtml(email)}</strong>. It comes by e-mail; where this instance sends none, its owner has it. There you choose a password, and you are in.</p><p>You have an account already? <a href="/sign-in">Sign in</a></p>`,
    )
  }

  const forgot = async (request: DoorRequest): Promise<Answer> => {
    const foreign = refuseForeign(request, 'Another password', '/forgot')
    if (foreign) return foreign
    const { email, problem } = emailIn(request)
    if (problem !== undefined) return forgotPage(400, joining.sends_mail(), email, problem)
    await joining.forgot(email)
    if (!request.accepts_html) return json(202, { ok: true, message: 'Whoever has a password here under this address gets a link.' })
    return page(
      202,
      'Look for a letter',
      `<p>If <strong>${escapeHtml(email)}</strong> has a password here, a link to choose another one is on its way.</p><p>None comes? Ask the owner of this instance for a link.</p>`,
    )
  }

  const verifyPage = async (request: DoorRequest): Promise<Answer> => {
    const code = codeOf(request)
    const known = await joining.verifying(code)
    return known ? verifyForm(200, code, known) : gone(request, 'link')
  }

  const verify = async (request: DoorRequest): Promise<Answer> => {
    const foreign = refuseForeign(request, 'Verify your address', '/sign-in')
    if (foreign) return foreign
    const { code, password } = fields(request, 'code', 'password')
    const known = await joining.verifying(code)
    const entered = await joining.verify({ code, password, is_local: request.is_local })
    return answer(request, entered, 'link', (status, problem) => verifyForm(status, code, known ?? { email: '', asks: 'new_password' }, problem))
  }

  const joinPage = async (request: DoorRequest): Promise<Answer> => {
    const code = codeOf(request)
    const known = await joining.invited(code)
    return known ? joinForm(200, code, known) : gone(request, 'invitation')
  }

  const join = async (request: DoorRequest): Promise<Answer> => {
    const foreign = refuseForeign(request, 'Join a team', '/sign-in')
    if (foreign) return foreign
    const given = fields(request, 'code', 'email', 'password')
    const known = await joining.invited(given.code)
    const entered = await joining.join({ ...given, is_local: request.is_local })
    return answer(request, entered, 'invitation', (status, problem) =>
      joinForm(status, given.code, { email: given.email, owner_email: known?.owner_email ?? '' }, problem),
    )
  }

  function answer(request: DoorRequest, entered: Entered, what: 'link' | 'invitation', form: (status: number, problem: string) => Answer): Answer {
    if ('gone' in entered) return gone(request, what)
    if ('session' in entered) {
      if (entered.session) return letIn(request, cookie_name, entered.session)
      if (!request.accepts_html) return json(200, { ok: true, location: '/sign-in' })
      return page(200, 'Your address is verified', '<p>That was all. <a href="/sign-in">Sign in</a>, or go on where you are signed in already.</p>')
    }
    if ('wait_s' in entered) {
      const sentence = `Too many tries. Wait ${entered.wait_s} s and try again.`
      if (!request.accepts_html) throw new Problem('rate_limited', sentence, { retry_after_s: entered.wait_s })
      const waiting = form(429, sentence)
      return { ...waiting, headers: { ...waiting.headers, 'retry-after': String(entered.wait_s) } }
    }
    if ('refused' in entered) {
      if (!request.accepts_html) throw new Problem('invalid_input', entered.refused, { issues: [{ path: 'password', message: entered.refused }] })
      return form(400, entered.refused)
    }
    const sentence = 'Email or password is wrong. Try again.'
    if (!request.accepts_html) throw new Problem('unauthorized', sentence)
    return form(401, sentence)
  }

  return [
    {
      path: '/sign-up',
      is_counted: true,
      answer: async (request) => (joining.mode() === 'open' ? signUpForm(200, '') : closed(request, joining.mode())),
    },
    { method: 'POST', path: '/sign-up', is_counted: 'by_address', answer: signUp },
    { path: '/forgot', is_counted: true, answer: async () => forgotPage(200, joining.sends_mail(), '') },
    { method: 'POST', path: '/forgot', is_counted: 'by_address', answer: forgot },
    { path: '/verify', is_counted: 'by_address', answer: verifyPage },
    { method: 'POST', path: '/verify', is_counted: 'by_address', answer: verify },
    { path: '/join', is_counted: 'by_address', answer: joinPage },
    { method: 'POST', path: '/join', is_counted: 'by_address', answer: join },
  ]
}

/** Loose: whether an address is somebody's is shown by the link. */
const isEmail = (text: string) => text.length <= 254 && /^[^\s@<>"',;()\\]+@[^\s@<>"',;()\\]+\.[^\s@<>"',;()\\.]+$/.test(text)

/** Throws for what no page is shown. */
function emailIn(request: DoorRequest): { email: string; problem?: string } {
  const email = fields(request, 'email').email.trim().toLowerCase()
  if (isEmail(email)) return { email }
  const problem = 'This is no email address. Write it as name@example.com.'
  if (!request.accepts_html) throw new Problem('invalid_input', 'The address is not valid.', { issues: [{ path: 'email', message: problem }] })
  return { email, problem }
}

function refuseForeign(request: DoorRequest, title: string, home: string): Answer | undefined {
  const reason = foreignReason(request)
  if (reason === undefined) return undefined
  if (!request.accepts_html) throw new Problem('origin_not_allowed', reason)
  return page(403, title, `<p>${reason}</p><p><a href="${home}">Go there</a></p>`)
}

function closed({ accepts_html }: DoorRequest, mode: 'off' | 'invited' | 'open'): Answer {
  const sentence =
    mode === 'invited' ? 'New accounts are by invitation here. Ask somebody who has one, or the owner.' : 'This instance takes nobody new.'
  if (!accepts_html) throw new Problem('forbidden', sentence)
  return page(403, 'No sign-up here', `<p>${sentence}</p><p>You have an account already? <a href="/sign-in">Sign in</a></p>`)
}

/** Unknown, used, taken back and expired are one: a guess learns nothing. */
function gone({ accepts_html }: DoorRequest, what: 'link' | 'invitation'): Answer {
  const sentence = `This ${what} was used before, was taken back or has expired. Ask for a new one.`
  if (!accepts_html) throw new Problem('unauthorized', sentence)
  return page(401, `This ${what} no longer works`, `<p>${sentence}</p><p>You have an account already? <a href="/sign-in">Sign in</a></p>`)
}

const emailField = (email: string, described: string) => `<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" autofocus value="${escapeHtml(email)}"${described}>`

function signUpForm(status: number, email: string, problem?: string): Answer {
  const { alert, described } = alertOf(problem, escapeHtml)
  return page(
    status,
    'Sign up',
    `${alert}
<form method="post" action="/sign-up">
${emailField(email, described)}
<button type="submit">Send me the link</button>
</form>
<p>You choose a password where the link leads. You have an account already? <a href="/sign-in">Sign in</a></p>`,
    { has_form: true },
  )
}

function forgotPage(status: number, sendsMail: boolean, email: string, problem?: string): Answer {
  const { alert, described } = alertOf(problem, escapeHtml)
  const form = `<form method="post" action="/forgot">
${emailField(email, described)}
<button type="submit">Send me a link</button>
</form>`
  return page(
    status,
    'Another password',
    `${alert}
${sendsMail ? form : '<p>This instance sends no mail. Ask its owner for a link: it is made in the list of people, and there you choose another password.</p>'}
<p>The owner of this instance comes back in on its own machine: <code>npx homeport open</code> signs in, <code>npx homeport password</code> sets another password.</p>
<p><a href="/sign-in">Back to sign in</a></p>`,
    { has_form: sendsMail },
  )
}

const hidden = (code: string) => `<input type="hidden" name="code" value="${escapeHtml(code)}">`

const passwordFields = {
  nothing: () => '',
  own_password: (described: string) => `<label for="password">Your password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="200" autofocus${described}>`,
  other_password: (described: string) => `<label for="password">Choose another password of at least 10 characters</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="10" maxlength="200" autofocus${described}>
<p>Leave it empty, and yours stays. Another one ends your sessions everywhere else.</p>`,
  new_password: (described: string) => `<label for="password">Choose a password of at least 10 characters</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="200" autofocus${described}>`,
}

function verifyForm(status: number, code: string, known: Verifying, problem?: string): Answer {
  const { alert, described } = alertOf(problem, escapeHtml)
  return page(
    status,
    known.asks === 'other_password' ? 'Another password' : 'Verify your address',
    `${alert}
<p>This link is for <strong>${escapeHtml(known.email)}</strong>.</p>
<form method="post" action="/verify">
${hidden(code)}
<input type="hidden" autocomplete="username" value="${escapeHtml(known.email)}">
${passwordFields[known.asks](described)}
<button type="submit">${known.asks === 'nothing' ? 'It is my address' : 'Go in'}</button>
</form>
${known.asks === 'own_password' ? '<p>Did you never choose a password? Then somebody else made this account: ask the owner of this instance to remove it.</p>' : ''}`,
    { has_form: true },
  )
}

function joinForm(status: number, code: string, known: { email: string; owner_email: string }, problem?: string): Answer {
  const { alert, described } = alertOf(problem, escapeHtml)
  return page(
    status,
    'Join a team',
    `${alert}
<p><strong>${escapeHtml(known.owner_email)}</strong> invites you to use their projects.</p>
<form method="post" action="/join">
${hidden(code)}
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" value="${escapeHtml(known.email)}">
<label for="password">Your password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="200" autofocus${described}>
<button type="submit">Join</button>
</form>
<p>New here? The password that you type, of at least 10 characters, becomes yours. Signed in without a password? Join in the dashboard under Account, or with <code>npx homeport team join LINK</code>.</p>`,
    { has_form: true },
  )
}
