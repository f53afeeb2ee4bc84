import { expect, test } from 'vitest'
import { readOptions } from '../../server/options.ts'
import { sharedPlatform } from '../support/shared-platform.ts'

test('the environment names the mail server; an invalid value is refused without being printed', () => {
  const named = readOptions({}, { HOMEPORT_SMTP_URL: 'smtps://me%40example.com:a%2Fb@mail.example.com', HOMEPORT_SMTP_FROM: 'port@example.com' })
  expect([named.smtp_url?.startsWith('smtps:'), named.smtp_from]).toEqual([true, 'port@example.com'])
  expect(readOptions({}, { HOMEPORT_SMTP_URL: '' }).smtp_url).toBe(null)
  for (const url of ['http://me:hidden@mail.example.com', 'mail.example.com:hidden', 'smtp://me:hidden%@mail.example.com', 'smtp://'])
    expect(() => readOptions({}, { HOMEPORT_SMTP_URL: url })).toThrow(/^HOMEPORT_SMTP_URL is an address such as (?!.*hidden)/)
})

test('without a mail server the owner gets the link, and each page and response says that no email is sent', async () => {
  const quiet = await sharedPlatform()
  const { body } = await quiet.api<{ url: string; was_sent: boolean }>('POST', '/instance/verification-links', {
    email: 'by-hand@example.com',
  })
  expect([body.was_sent, body.url.startsWith(`${quiet.handle.api_url}/verify?code=`)]).toEqual([false, true])
  await quiet.api('DELETE', '/instance/users/by-hand%40example.com')
  const { body: added } = await quiet.api<{ target: { id: string }; warning: string }>('POST', '/instance/notifications/targets', {
    type: 'email',
    address: 'by-hand@example.com',
  })
  expect(added.warning).toContain('this instance has no mail server')
  await quiet.api('DELETE', `/instance/notifications/targets/${added.target.id}`)
  expect(await (await fetch(`${quiet.handle.api_url}/forgot`)).text()).toContain('This instance sends no email. Ask its owner')
  await quiet.remove()
})
