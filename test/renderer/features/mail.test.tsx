import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import MailPage from '../../../renderer/features/mail/page.tsx'
import { deployment } from '../../../server/contract/deployments.ts'
import {
  type MailCatcherStatus,
  type MailMessage,
  mailMessage,
  mailOperations,
  type MailMessageDetails,
  mailMessageDetails,
} from '../../../server/contract/mail.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'
import { MessageView } from '../../../renderer/features/mail/message-view.tsx'

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

afterEach(() => vi.restoreAllMocks())

const createDetails = (own: Partial<MailMessageDetails> = {}) =>
  createExample(mailMessageDetails, {
    ...createMessage(),
    html: '<p>Hello</p>',
    text: 'Hello in text',
    headers: [{ name: 'Subject', value: 'Your order' }],
    files: [],
    is_shortened: false,
    ...own,
  })
const showMessage = (value: MailMessageDetails | undefined, answers: PartOptions['answers'] = {}) => {
  const onDeleted = vi.fn()
  const part = renderPart(<MessageView slug="my-shop" id="msg_1" onDeleted={onDeleted} />, {
    data: [[queryKeys.mailMessage('my-shop', 'msg_1'), value]],
    answers,
  })
  return { onDeleted, ...part }
}

test.each<[string, Partial<MailMessageDetails>, string]>([
  [
    'with all parts',
    {},
    'All messages Your order [Download the message] Download Delete From shop@example.com To ada@example.com, bob@example.com Received Jan 31, 2026 [Part of the message] HTML Text Headers',
  ],
  [
    'of text',
    { html: null },
    'All messages Your order [Download the message] Download Delete From shop@example.com To ada@example.com, bob@example.com Received Jan 31, 2026 [Part of the message] Text Headers Hello in text',
  ],
  [
    'of HTML',
    { text: null },
    'All messages Your order [Download the message] Download Delete From shop@example.com To ada@example.com, bob@example.com Received Jan 31, 2026 [Part of the message] HTML Headers',
  ],
  [
    'without a content, a subject and a sender',
    { html: null, text: null, subject: '', from: '' },
    'All messages No subject [Download the message] Download Delete From No sender To ada@example.com, bob@example.com Received Jan 31, 2026 [Part of the message] Text Headers This message has no text.',
  ],
  [
    'that is long, with attachments',
    {
      html: null,
      is_shortened: true,
      files: [
        { index: 0, name: '../a/order.pdf', content_type: 'application/pdf', size_bytes: 2_000 },
        { index: 1, name: 'b\\', content_type: 'text/plain', size_bytes: 10 },
      ],
    },
    'All messages Your order [Download the message] Download Delete From shop@example.com To ada@example.com, bob@example.com Received Jan 31, 2026 This message is too long to be shown as a whole. Download it instead. [Part of the message] Text Headers Hello in text Attachments ../a/order.pdfapplication/pdf, 2 kB [Download ../a/order.pdf] Download b\\text/plain, 10 B [Download b\\] Download',
  ],
])('a message %s', (_, own, expected) => expect(showMessage(createDetails(own)).text()).toBe(expected))

test('the parts of a message', async () => {
  const { user, text } = showMessage(createDetails())
  const frame = screen.getByTitle<HTMLIFrameElement>('Message “Your order”')
  expect([frame.srcdoc, frame.getAttribute('sandbox')]).toEqual(['<p>Hello</p>', 'allow-popups allow-popups-to-escape-sandbox'])
  await user.click(screen.getByRole('radio', { name: 'Text' }))
  expect([screen.queryByTitle('Message “Your order”'), text().endsWith('Headers Hello in text')]).toEqual([null, true])
  await user.click(screen.getByRole('radio', { name: 'Headers' }))
  expect(text().endsWith('Headers Subject Your order')).toBe(true)
})

test('a message is deleted', async () => {
  const { user, sent, onDeleted } = showMessage(createDetails(), { deleteMailMessage: new Response(null, { status: 204 }) })
  await user.click(screen.getByRole('button', { name: 'Delete' }))
  expect(sent).toEqual([{ operation: 'deleteMailMessage', params: { slug: 'my-shop', message: 'msg_1' } }])
  await waitFor(() => expect(onDeleted).toHaveBeenCalledOnce())
})

test('a message that cannot be loaded is explained', async () => {
  const { text } = showMessage(undefined, { getMailMessage: problemResponse('message_not_found', 'There is no such message.') })
  expect(text()).toBe('All messages Loading')
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such message.')
})

test('the address opens a message, and its deletion leads back to all of them', async () => {
  history.replaceState(null, '', '/app/?message=msg_1')
  const { user } = renderPart(<MailPage slug="my-shop" />, {
    data: [
      [queryKeys.mail('my-shop'), { catcher, messages: [] }],
      [queryKeys.mailMessage('my-shop', 'msg_1'), createDetails()],
    ],
    answers: { deleteMailMessage: new Response(null, { status: 204 }) },
  })
  expect(screen.queryByRole('heading', { name: 'Mail catcher' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Delete' }))
  expect(await screen.findByRole('heading', { name: 'Mail catcher' })).toBeTruthy()
  expect(location.search).toBe('')
})

test.each([
  ['Download the message', 'msg_1.eml'],
  ['Download ../a/order.pdf', 'order.pdf'],
  ['Download b\\', 'attachment'],
])('“%s” saves the file %s', async (name, file) => {
  const saved: string[] = []
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function save(this: HTMLAnchorElement) {
    saved.push(this.download)
  })
  const files = ['../a/order.pdf', 'b\\'].map((one, index) => ({ index, name: one, content_type: 'text/plain', size_bytes: 10 }))
  const answers = { downloadMailMessage: new Response('content'), downloadMailAttachment: new Response('content') }
  const { user } = showMessage(createDetails({ files }), answers)
  await user.click(screen.getByRole('button', { name }))
  await waitFor(() => expect(saved).toEqual([file]))
})
