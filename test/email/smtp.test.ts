/** Email over TLS, from a server with a valid certificate; no other server gets the password. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../server/lib/log.ts'
import { createEmailSender } from '../../server/email/smtp.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { createTestAuthority } from '../support/tls.ts'

const authority = createTestAuthority()
const defaultCertificates = getCACertificates('default')
/** 127.0.0.1 by another name, which does not count as this machine: like a server on the network. */
const otherAddress = '[::ffff:127.0.0.1]'
const secret = 'mail secret/1'
const lines: string[] = []
const message = { to: 'ann@example.com', subject: 'A link', text: 'Here it is.\n' }

let server: MailServer | undefined
beforeAll(async () => setDefaultCACertificates([...defaultCertificates, (await authority.ensure()).certificate]))
afterAll(() => setDefaultCACertificates(defaultCertificates))
afterEach(async () => {
  await server?.close()
  server = undefined
  expect(lines.join('\n')).not.toContain(secret)
})

async function send(scheme: 'smtp' | 'smtps', host: string, tls?: 'at_once' | 'when_asked', identity?: { certificate: string; key: string }) {
  server = await startMailServer({ ...(tls ? { tls } : {}), ...(identity ? { identity } : {}) })
  const url = `${scheme}://post%40example.com:${encodeURIComponent(secret)}@${host}:${server.port}`
  const mail = createEmailSender({ url, from: null, log: createLog((line) => void lines.push(line)) })
  const was_sent = await mail.send(message)
  mail.close()
  return { was_sent, emails: server.emails.length, sign_ins: server.sign_ins }
}

const sent = { was_sent: true, emails: 1, sign_ins: { all: 1, in_the_clear: 0 } }
const refused = { was_sent: false, emails: 0, sign_ins: { all: 0, in_the_clear: 0 } }

describe.each(['localhost', otherAddress])('a server at %s', (host) => {
  const name = host === otherAddress ? '::ffff:127.0.0.1' : host

  test('accepts email over TLS from the first byte, and after STARTTLS', async () => {
    expect(await send('smtps', host, 'at_once', await authority.identityFor(name))).toEqual(sent)
    await server?.close()
    expect(await send('smtp', host, 'when_asked', await authority.identityFor(name))).toEqual(sent)
  })

  test.each([
    ['smtps', 'at_once'],
    ['smtp', 'when_asked'],
  ] as const)('gets no password while its certificate is for another host: %s', async (scheme, tls) => {
    expect(await send(scheme, host, tls, await authority.identityFor('mail.example.org'))).toEqual(refused)
  })

  test.each([
    ['smtps', 'at_once'],
    ['smtp', 'when_asked'],
  ] as const)('gets no password with a self-signed certificate: %s', async (scheme, tls) => {
    expect(await send(scheme, host, tls, await createTestAuthority('somebody else').identityFor(name))).toEqual(refused)
    expect(lines.at(-1)).toContain('email_send_failed')
  })
})

test('without TLS a password is sent only to this machine', async () => {
  expect(await send('smtp', otherAddress)).toEqual(refused)
  await server?.close()
  expect(await send('smtps', otherAddress)).toEqual(refused)
  await server?.close()
  expect(await send('smtp', '127.0.0.1')).toEqual({ was_sent: true, emails: 1, sign_ins: { all: 1, in_the_clear: 1 } })
})
