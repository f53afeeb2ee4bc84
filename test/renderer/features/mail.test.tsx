import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import MailPage from '../../../renderer/features/mail/page.tsx'
import { deployment } from '../../../server/contract/deployments.ts'
import { type MailCatcherStatus, type MailMessage, mailMessage, mailOperations } from '../../../server/contract/mail.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const catcher: MailCatcherStatus = {
  ...createExample(mailOperations.getMail.success.json).catcher,
  is_enabled: true,
  host: null,
  port: null,
  user: 'my-shop',
  unavailable: null,
}
const createMessage = (own: Partial<MailMessage> = {}) =>
  createExample(mailMessage, {
    id: 'msg_1',
    from: 'shop@example.com',
    to: ['ada@example.com', 'bob@example.com'],
    subject: 'Your order',
    attachments: 0,
    ...own,
  })

afterEach(() => history.replaceState(null, '', '/app/'))

const showPage = (messages: MailMessage[], own: Partial<MailCatcherStatus> = {}, answers: PartOptions['answers'] = {}) =>
  renderPart(<MailPage slug="my-shop" />, { data: [[queryKeys.mail('my-shop'), { catcher: { ...catcher, ...own }, messages }]], answers })

test.each<[string, Partial<MailCatcherStatus>, string]>([
  ['on', {}, 'Messages No messages yet A message appears here as soon as an app sends it.'],
  ['off', { is_enabled: false }, 'Messages No messages yet Turn on the mail catcher to see what apps send.'],
  [
    'listening',
    { host: '127.0.0.1', port: 1025 },
    'Listens on 127.0.0.1:1025, user my-shop. The password is in SMTP_PASSWORD of the apps. Messages No messages yet A message appears here as soon as an app sends it.',
  ],
  [
    'unavailable',
    { unavailable: 'Its port is in use.' },
    'Its port is in use. Messages No messages yet A message appears here as soon as an app sends it.',
  ],
])('the mail catcher is %s', (_, own, expected) => {
  const { text } = showPage([], own)
  expect(text().replace(/^.*Changing this redeploys the project\. ?/, '')).toBe(expected)
  expect(screen.getByRole('switch').getAttribute('aria-checked')).toBe(String(own.is_enabled ?? true))
})

test.each<[string, Partial<MailMessage>, string]>([
  ['a message with an attachment', { attachments: 1 }, 'Your ordershop@example.com → ada@example.com, bob@example.comJan 31, 2026 | 1 attachment'],
  ['one message', {}, 'Your ordershop@example.com → ada@example.com, bob@example.comJan 31, 2026'],
  [
    'a message with attachments, without subject and sender',
    { subject: '', from: '', to: ['ada@example.com'], attachments: 2 },
    'No subjectNo sender → ada@example.comJan 31, 2026 | 2 attachments',
  ],
])('%s', (_, own, expected) => {
  showPage([createMessage(own)])
  const row = screen.getByRole('listitem')
  expect(
    [
      row.textContent,
      ...within(row)
        .queryAllByRole('img')
        .map((image) => image.getAttribute('aria-label')),
    ].join(' | '),
  ).toBe(expected)
  expect(within(row).getByRole('link').getAttribute('href')).toBe('/projects/my-shop/mail?message=msg_1')
})

test('the mail catcher is turned off, and the deployment that follows is shown until it is dismissed', async () => {
  const { user, sent, text } = renderPart(<MailPage slug="my-shop" />, {
    data: [
      [queryKeys.mail('my-shop'), { catcher, messages: [] }],
      [queryKeys.deployment('my-shop', 'dpl_9'), createExample(deployment, { id: 'dpl_9', status: 'building' })],
    ],
    answers: { updateMail: { catcher: { ...catcher, is_enabled: false }, deployment_id: 'dpl_9' } },
  })
  await user.click(screen.getByRole('switch'))
  expect(sent).toEqual([{ operation: 'updateMail', params: { slug: 'my-shop' }, body: { is_enabled: false } }])
  await screen.findByText('Redeploying with the changed SMTP variables…')
  await user.click(screen.getByRole('button', { name: 'Dismiss' }))
  expect(text()).not.toContain('Redeploying')
})

test('the mail catcher cannot be changed while it changes', async () => {
  const { user, sent } = showPage([])
  await user.click(screen.getByRole('switch'))
  await user.click(screen.getByRole('switch'))
  expect([screen.getByRole<HTMLButtonElement>('switch').disabled, sent.length]).toEqual([true, 1])
})

test.each([
  [1, 'Delete all messages? The message is deleted. This cannot be undone.'],
  [2, 'Delete all messages? All 2 messages are deleted. This cannot be undone.'],
])('%d messages are deleted after a question', async (count, question) => {
  const messages = Array.from({ length: count }, (_, index) => createMessage({ id: `msg_${index}` }))
  const { user, sent, text } = showPage(messages, {}, { deleteMailMessages: new Response(null, { status: 204 }) })
  await user.click(screen.getByRole('button', { name: 'Delete all…' }))
  expect(text()).toContain(question)
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(sent).toEqual([])
  await user.click(screen.getByRole('button', { name: 'Delete all…' }))
  await user.click(screen.getByRole('button', { name: 'Delete all' }))
  expect(sent).toEqual([{ operation: 'deleteMailMessages', params: { slug: 'my-shop' } }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})

test('without messages none can be deleted', () => {
  showPage([])
  expect(screen.queryByRole('button', { name: 'Delete all…' })).toBeNull()
})

test('mail is loaded', () => expect(renderPart(<MailPage slug="my-shop" />).text()).toBe('Loading'))

test('an account without a mail catcher says so', () => {
  expect(renderPart(<MailPage slug="my-shop" />, { data: [[queryKeys.mail('my-shop'), null]] }).text()).toBe(
    'No mail catcher This account has none. Homeport on your own machine has one.',
  )
})

test('mail that cannot be loaded is explained', async () => {
  renderPart(<MailPage slug="my-shop" />, { answers: { getMail: problemResponse('project_not_found', 'There is no such project.') } })
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such project.')
})
