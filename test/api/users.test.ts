/** Users on a whole platform: how they sign up, what a team member may do, and that every link works once. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'

let mail: MailServer
let platform: TestPlatform
const secrets: string[] = []

beforeAll(async () => {
  mail = await startMailServer()
  const host_module = new URL('../support/fast-password-host.ts', import.meta.url).href
  platform = await startTestPlatform({ runtime: 'process', smtp_url: mail.url, host_module })
})
afterAll(async () => {
  await platform.remove()
  await mail.close()
})

const password = 'a long enough password'
type Json = Record<string, unknown>

/** A page in a browser: a GET, or a submitted form. */
async function page(path: string, form?: Record<string, string>, headers: Record<string, string> = {}) {
  const url = platform.handle.api_url
  const response = await fetch(url + path, {
    redirect: 'manual',
    headers: { accept: 'text/html', ...(form ? { origin: url } : {}), ...headers },
    ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
  })
  return {
    status: response.status,
    text: await response.text(),
    cookie: response.headers.get('set-cookie')?.split(';')[0],
    headers: response.headers,
  }
}

const codeIn = (text: string) => {
  const code = /code=([\w-]{43})/.exec(text)?.[1] ?? ''
  expect(code).not.toBe('')
  secrets.push(code)
  return code
}

/** An API request with a browser session. */
async function as(cookie: string | undefined, method: string, path: string, body: unknown = {}) {
  const response = await fetch(platform.handle.api_url + path, {
    method,
    headers: { cookie: cookie ?? '', origin: platform.handle.api_url, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Json }
}

const person = async (email: string, more: Json = {}) => {
  const { status, body } = await platform.api<{ token: string; user: { id: string; account_id: string } }>('POST', '/instance/users', {
    email,
    ...more,
  })
  expect(status).toBe(201)
  return body
}

/** A user with a verified address, a password and a session. */
async function comesIn(email: string): Promise<string | undefined> {
  const { body } = await platform.api<{ url: string }>('POST', '/instance/verification-links', { email })
  return (await page('/verify', { code: codeIn(body.url), password })).cookie
}

const invite = async (email: string, token?: string) => {
  const { status, body } = await platform.api<{ url: string; was_sent: boolean; invitation: { id: string } }>(
    'POST',
    '/instance/team/invitations',
    { email },
    token,
  )
  expect(status).toBe(201)
  return { ...body, code: codeIn(body.url) }
}

describe('sign-up', () => {
  test('is closed until the owner opens it: neither “invited”, the default, nor “off” lets anyone sign up', async () => {
    for (const mode of ['invited', 'off']) {
      await platform.api('PATCH', '/instance/settings', { sign_up: mode })
      expect((await page('/sign-up')).status).toBe(403)
      expect((await page('/sign-up', { email: 'early@example.com' })).status).toBe(403)
    }
    const { body } = await platform.api<{ users: { email: string }[] }>('GET', '/instance/users')
    expect(body.users.map(({ email }) => email)).toEqual(['owner@homeport.localhost'])
    await platform.api('PATCH', '/instance/settings', { sign_up: 'open' })
  })

  test('asks for an email address, sends a link, and creates the account when a password is chosen there', async () => {
    const form = await page('/sign-up')
    expect([form.status, form.text.includes('<script')]).toEqual([200, false])
    expect(form.text).toMatch(/<label for="email">/)
    expect((await page('/sign-up', { email: ' New@Example.com ' })).status).toBe(202)

    const email = await mail.waitForEmail('new@example.com')
    expect(email.from).toBe('post@example.com')
    const code = codeIn(email.text)
    // Opening it, as a mail scanner does, does not consume it.
    for (let i = 0; i < 2; i++) expect((await page(`/verify?code=${code}`)).text).toContain('Choose a password')
    expect((await page('/verify', { code, password: 'short' })).status).toBe(400)
    const entered = await page('/verify', { code, password })
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/app/'])
    expect(entered.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict/)

    const { body } = await as(entered.cookie, 'GET', '/instance/session')
    expect(body).toMatchObject({ user: { email: 'new@example.com', email_verified: true, is_instance_owner: false } })
    expect((await as(entered.cookie, 'POST', '/v1/projects', { name: 'First', slug: 'first-of-new' })).status).toBe(201)
    expect((await page('/sign-in', { email: 'new@example.com', password })).status).toBe(303)
    // Only once.
    expect((await page(`/verify?code=${code}`)).status).toBe(401)
    expect((await page('/verify', { code, password: 'another long password' })).status).toBe(401)
    expect((await page('/sign-in', { email: 'new@example.com', password: 'another long password' })).status).toBe(401)
  })

  test('responds the same for a known, a pending and an unknown address', async () => {
    const answers = []
    for (const email of ['new@example.com', 'owner@homeport.localhost', 'asked@example.com', 'asked@example.com', 'never@example.com']) {
      const { status, text, headers } = await page('/sign-up', { email })
      answers.push({
        status,
        text: text.replaceAll(email, 'EMAIL'),
        headers: [...headers].filter(([name]) => !/request-id|ratelimit|date|content-length/.test(name)),
      })
    }
    for (const response of answers) expect(response).toEqual(answers[0])
    // For a known address, the information goes only by email to its owner.
    expect((await mail.waitForEmail('new@example.com', 1)).text).toContain('it already has one')
    await mail.waitForEmail('never@example.com')
    // The number of emails to one address is limited.
    for (let i = 0; i < 4; i++) await page('/sign-up', { email: 'asked@example.com' })
    await page('/sign-up', { email: 'last@example.com' })
    // Each email uses its own connection, so they may arrive out of order.
    await mail.waitForEmail('last@example.com')
    await mail.waitForEmail('asked@example.com', 2)
    expect(mail.emails.filter(({ to }) => to.includes('asked@example.com')).length).toBe(3)
  })

  test('an unverified user cannot sign in, and signing up with another person’s address gains no access', async () => {
    expect((await page('/sign-in', { email: 'never@example.com', password: '' })).status).toBe(401)
    const { body } = await platform.api<{ users: Json[] }>('GET', '/instance/users')
    expect(body.users.find(({ email }) => email === 'never@example.com')).toMatchObject({ email_verified: false, account: { plan: 'starter' } })
  })

  test.each(['', 'x', 'a@b', 'a b@example.com', '<script>@example.com', `${'a'.repeat(250)}@example.com`])(
    '%j is not a valid address',
    async (email) => {
      const response = await page('/sign-up', { email })
      expect(response.status).toBe(400)
      expect(response.text).not.toContain('<script')
    },
  )

  test('refuses forms sent from other sites', async () => {
    for (const path of ['/sign-up', '/verify', '/join'])
      for (const [name, value] of [
        ['origin', 'https://evil.example'],
        ['origin', 'null'],
        ['sec-fetch-site', 'cross-site'],
      ] as const) {
        const response = await page(path, { email: 'evil@example.com', code: 'x', password }, { [name]: value })
        expect([response.status, response.cookie]).toEqual([403, undefined])
      }
  })
})

describe('a link created by the owner', () => {
  test('signs up a new user, is void once replaced, and keeps an existing password unless another is chosen', async () => {
    const first = await platform.api<{ url: string; was_sent: boolean }>('POST', '/instance/verification-links', { email: 'guest@example.com' })
    const second = await platform.api<{ url: string; was_sent: boolean }>('POST', '/instance/verification-links', { email: 'guest@example.com' })
    expect([second.status, second.body.was_sent]).toEqual([201, true])
    expect((await page(`/verify?code=${codeIn(first.body.url)}`)).status).toBe(401)
    expect((await page('/verify', { code: codeIn(second.body.url), password })).status).toBe(303)
    const third = await platform.api<{ url: string }>('POST', '/instance/verification-links', { email: 'guest@example.com' })
    const response = await page('/verify', { code: codeIn(third.body.url), password: '' })
    expect([response.status, response.cookie]).toEqual([200, undefined])
    const { status, cookie } = await page('/sign-in', { email: 'guest@example.com', password })
    expect(status).toBe(303)

    const fourth = await platform.api<{ url: string }>('POST', '/instance/verification-links', { email: 'guest@example.com' })
    const code = codeIn(fourth.body.url)
    expect((await page(`/verify?code=${code}`)).text).toContain('New password')
    expect((await page('/verify', { code, password: 'short' })).status).toBe(400)
    const chosen = await page('/verify', { code, password: 'not the old password' })
    expect(chosen.status).toBe(303)
    expect((await as(chosen.cookie, 'GET', '/instance/session')).body).toMatchObject({ user: { email: 'guest@example.com' } })
    // The sessions of the old password have ended.
    expect((await as(cookie, 'GET', '/instance/session')).status).toBe(401)
    expect((await page('/sign-in', { email: 'guest@example.com', password })).status).toBe(401)
    expect((await page('/verify', { code, password: 'another long password' })).status).toBe(401)
  })

  test('never sets a new password for the instance owner, which would take over the machine', async () => {
    const { user } = (await platform.api<{ user: { email: string } }>('GET', '/instance/session')).body
    expect((await platform.api('POST', '/instance/password', { password })).status).toBe(200)
    const { body } = await platform.api<{ url: string }>('POST', '/instance/verification-links', { email: user.email })
    const response = await page('/verify', { code: codeIn(body.url), password: 'not the old password' })
    expect([response.status, response.cookie]).toEqual([200, undefined])
    expect((await page('/sign-in', { email: user.email, password })).status).toBe(303)
    expect((await page('/forgot', { email: user.email })).status).toBe(202)
    expect(mail.emails.filter(({ to, headers }) => to.includes(user.email) && headers.includes('Reset your Homeport password'))).toEqual([])
  })

  test('is sent by email for a forgotten password; the page does not reveal who has an account', async () => {
    await comesIn('forgetful@example.com')
    const before = mail.emails.filter(({ to }) => to.includes('forgetful@example.com')).length
    expect((await page('/sign-in')).text).toContain('href="/forgot"')
    const unknown = await page('/forgot', { email: 'nobody-here@example.com' })
    const known = await page('/forgot', { email: 'Forgetful@example.com' })
    expect([known.status, known.text]).toEqual([unknown.status, unknown.text.replaceAll('nobody-here@', 'forgetful@')])
    const { text } = await mail.waitForEmail('forgetful@example.com', before)
    expect((await page('/verify', { code: codeIn(text), password: 'chosen anew, and long' })).status).toBe(303)
    expect((await page('/sign-in', { email: 'forgetful@example.com', password })).status).toBe(401)
    expect((await page('/sign-in', { email: 'forgetful@example.com', password: 'chosen anew, and long' })).status).toBe(303)
    expect(mail.emails.some(({ to }) => to.includes('nobody-here@example.com'))).toBe(false)
  })

  test('is sent on request until the address is verified; then a project can be created', async () => {
    const { token } = await person('late@example.com', { verified: false })
    const make = () => platform.api('POST', '/v1/projects', { name: 'Late', slug: 'late-one' }, token)
    expect((await make()).body).toMatchObject({ error: 'email_not_verified' })
    expect((await platform.api('POST', '/instance/verification', undefined, token)).body).toMatchObject({ was_sent: true })
    const { text } = await mail.waitForEmail('late@example.com')
    expect((await page('/verify', { code: codeIn(text), password })).status).toBe(303)
    expect((await make()).status).toBe(201)
    expect((await platform.api('POST', '/instance/verification', undefined, token)).body).toMatchObject({ was_sent: false })
  })

  test('cannot be created by other users', async () => {
    const { token } = await person('nosy@example.com')
    expect((await platform.api('POST', '/instance/verification-links', { email: 'x@example.com' }, token)).status).toBe(403)
  })

  test('is in the response even if the mail server refuses it', async () => {
    mail.rejects_mail = true
    const { status, body } = await platform.api<{ url: string; was_sent: boolean }>('POST', '/instance/verification-links', {
      email: 'nomail@example.com',
    })
    mail.rejects_mail = false
    expect([status, body.was_sent]).toEqual([201, false])
    expect((await page(`/verify?code=${codeIn(body.url)}`)).status).toBe(200)
    expect(platform.log.join('\n')).toContain('email_send_failed')
  })
})

describe('an invitation', () => {
  test('signs up a new user by address and their own password; once', async () => {
    const { token } = await person('lead@example.com')
    await platform.api('POST', '/v1/projects', { name: 'Ours', slug: 'ours' }, token)
    const { code, was_sent } = await invite('mate@example.com', token)
    expect(was_sent).toBe(true)
    expect(codeIn((await mail.waitForEmail('mate@example.com')).text)).toBe(code)
    const form = await page(`/join?code=${code}`)
    expect([form.status, form.text.includes('value="mate@example.com"'), form.text.includes('lead@example.com')]).toEqual([200, true, true])
    expect((await page('/join', { code, email: 'mate@example.com', password: 'short' })).status).toBe(400)
    const joined = await page('/join', { code, email: 'mate@example.com', password })
    expect(joined.status).toBe(303)
    expect((await as(joined.cookie, 'GET', '/v1/projects/ours')).status).toBe(200)
    // The inviter has seen the link, so it does not verify the address.
    expect((await as(joined.cookie, 'GET', '/instance/session')).body).toMatchObject({ user: { email_verified: false } })
    expect((await as(joined.cookie, 'POST', '/v1/projects', { name: 'Own', slug: 'own' })).body).toMatchObject({ error: 'email_not_verified' })
    for (const email of ['mate@example.com', 'other@example.com'])
      expect((await page('/join', { code, email, password: 'some other password' })).status).toBe(401)
    expect((await page(`/join?code=${code}`)).status).toBe(401)
  })

  test('for another person’s address creates no account that the person would take over', async () => {
    const { token } = await person('sly@example.com')
    const { code } = await invite('victim@example.com', token)
    const taken = await page('/join', { code, email: 'victim@example.com', password: 'chosen by the sly one' })
    expect(taken.status).toBe(303)
    // The verification email goes to the address. Its owner, who does not know the password, verifies nothing by opening it.
    await mail.waitForEmail('victim@example.com', 1)
    const link = codeIn(mail.emails.filter(({ to, text }) => to.includes('victim@example.com') && text.includes('/verify'))[0]?.text ?? '')
    expect((await page(`/verify?code=${link}`)).text).toContain('If you never chose a password')
    expect((await page('/verify', { code: link, password })).status).toBe(401)
    expect((await page('/verify', { code: link, password: '' })).status).toBe(401)
    expect((await as(taken.cookie, 'GET', '/instance/session')).body).toMatchObject({ user: { email_verified: false } })
    // A user with both the link and the password is verified.
    expect((await page('/verify', { code: link, password: 'chosen by the sly one' })).status).toBe(303)
    expect((await as(taken.cookie, 'GET', '/instance/session')).body).toMatchObject({ user: { email_verified: true } })
  })

  test('from the instance owner verifies the address', async () => {
    const { code } = await invite('trusted@example.com')
    const { cookie } = await page('/join', { code, email: 'trusted@example.com', password })
    expect((await as(cookie, 'GET', '/instance/session')).body).toMatchObject({ user: { email_verified: true } })
  })

  test('requires an existing user’s own password', async () => {
    const { token } = await person('boss@example.com')
    await comesIn('here@example.com')
    await person('tokened@example.com')
    // An inviter cannot take over an account without a password.
    const { code } = await invite('tokened@example.com', token)
    expect((await page('/join', { code, email: 'tokened@example.com', password })).status).toBe(401)
    // Nor does the link create accounts for addresses that it does not name.
    expect((await page('/join', { code, email: 'unasked@example.com', password })).status).toBe(401)
    expect((await page('/join', { code, email: 'here@example.com', password: 'wrong password' })).status).toBe(401)
    expect((await page('/join', { code, email: 'here@example.com', password })).status).toBe(303)
    const { body } = await platform.api<{ members: Json[] }>('GET', '/instance/team', undefined, token)
    expect(body.members.map(({ email, role }) => [email, role])).toEqual([
      ['boss@example.com', 'owner'],
      ['here@example.com', 'member'],
    ])
  })

  test('is accepted with a token too; not by the inviter, not twice, not if forged', async () => {
    const [owner, guest] = [await person('host@example.com'), await person('caller@example.com')]
    const { code } = await invite('whoever@example.com', owner.token)
    const accept = (token: string, given = code) => platform.api<Json>('POST', '/instance/team/join', { code: given }, token)
    expect((await accept(owner.token)).body).toMatchObject({ error: 'email_taken' })
    expect((await accept(guest.token, 'made-up')).body).toMatchObject({ error: 'invitation_not_found' })
    expect((await accept(guest.token)).body).toMatchObject({ team: { owner_email: 'host@example.com' } })
    expect((await accept(guest.token)).status).toBe(404)
    const { body } = await platform.api<{ teams: { account_id: string }[] }>('GET', '/instance/team', undefined, guest.token)
    expect(body.teams.map((team) => team.account_id)).toEqual([owner.user.account_id])
    expect((await platform.api('POST', '/instance/team/leave', { account_id: owner.user.account_id }, guest.token)).status).toBe(200)
    expect((await platform.api('POST', '/instance/team/leave', { account_id: owner.user.account_id }, guest.token)).status).toBe(404)
  })

  test('is void once revoked, once replaced, and when its account is deleted; others cannot change it', async () => {
    const owner = await person('fickle@example.com')
    const [old, open] = [await invite('maybe@example.com', owner.token), await invite('maybe@example.com', owner.token)]
    expect((await page(`/join?code=${old.code}`)).status).toBe(401)
    const { token } = await person('thief@example.com')
    const path = `/instance/team/invitations/${open.invitation.id}`
    expect((await platform.api('DELETE', path, undefined, token)).status).toBe(404)
    const seen = await platform.api<{ invitations: { id: string }[] }>('GET', '/instance/team', undefined, owner.token)
    expect(seen.body.invitations.map(({ id }) => id)).toEqual([open.invitation.id])
    expect((await platform.api('DELETE', path, undefined, owner.token)).status).toBe(204)
    expect((await page('/join', { code: open.code, email: 'maybe@example.com', password })).status).toBe(401)
    const last = await invite('maybe@example.com', owner.token)
    await platform.api('DELETE', '/instance/users/fickle%40example.com')
    expect((await page(`/join?code=${last.code}`)).status).toBe(401)
  })

  test('is refused while sign-up is off', async () => {
    const { code } = await invite('too-late@example.com')
    await platform.api('PATCH', '/instance/settings', { sign_up: 'off' })
    expect((await page('/join', { code, email: 'too-late@example.com', password })).status).toBe(400)
    await platform.api('PATCH', '/instance/settings', { sign_up: 'invited' })
    expect((await page('/join', { code, email: 'too-late@example.com', password })).status).toBe(303)
  })

  test('of twenty concurrent uses exactly one succeeds', async () => {
    const { code } = await invite('race@example.com')
    const guests = await Promise.all(Array.from({ length: 20 }, (_, i) => person(`racer${i}@example.com`)))
    const answers = await Promise.all(guests.map(({ token }) => platform.api('POST', '/instance/team/join', { code }, token)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 19 }, () => 404)])
  })
})

describe('a team member', () => {
  test('uses the projects of the account, but deletes none: 403, where other accounts get 404', async () => {
    const [owner, member, stranger] = [await person('has@example.com'), await person('uses@example.com'), await person('sees-none@example.com')]
    await platform.api('POST', '/v1/projects', { name: 'Shared', slug: 'shared' }, owner.token)
    const { code } = await invite('uses@example.com', owner.token)
    await platform.api('POST', '/instance/team/join', { code }, member.token)
    expect((await platform.api('PATCH', '/v1/projects/shared', { name: 'Renamed' }, member.token)).status).toBe(200)
    for (const path of ['/v1/projects/shared', '/projects/shared']) {
      const { status, body } = await platform.api<Json>('DELETE', path, undefined, member.token)
      expect([status, body.error]).toEqual([403, 'forbidden'])
      expect(String(body.message)).toContain('Only the owner of the account')
      expect((await platform.api('DELETE', path, undefined, stranger.token)).status).toBe(404)
    }
    // Nor anything of its team: these belong to the member's own account.
    expect((await platform.api('DELETE', `/instance/team/members/${owner.user.id}`, undefined, member.token)).status).toBe(404)
    expect((await platform.api('DELETE', `/instance/team/members/${member.user.id}`, undefined, member.token)).status).toBe(404)
    expect((await platform.api('DELETE', `/instance/team/members/${member.user.id}`, undefined, owner.token)).status).toBe(204)
    expect((await platform.api('GET', '/v1/projects/shared', undefined, member.token)).status).toBe(404)
    expect((await platform.api('DELETE', '/v1/projects/shared', undefined, owner.token)).status).toBe(204)
  })
})

test('no link and no password is stored in the data folder or the log', () => {
  expect(secrets.length).toBeGreaterThan(10)
  const files = readdirSync(platform.data_dir).filter((name) => /\.db(-wal)?$/.test(name))
  const kept = [...files.map((name) => readFileSync(join(platform.data_dir, name), 'latin1')), platform.log.join('\n')].join('\n')
  for (const secret of [...secrets, password, 'mail secret/1']) expect(kept.includes(secret)).toBe(false)
})
