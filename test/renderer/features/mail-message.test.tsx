import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { MessageView } from '../../../renderer/features/mail/message-view.tsx'
import MailPage from '../../../renderer/features/mail/page.tsx'
import {
  type MailCatcherStatus,
  type MailMessage,
  mailMessage,
  type MailMessageDetails,
  mailMessageDetails,
  mailOperations,
} from '../../../server/contract/mail.ts'
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

afterEach(() => {
  history.replaceState(null, '', '/app/')
  vi.restoreAllMocks()
})

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
