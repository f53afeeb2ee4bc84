import { screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { TargetDialog } from '../../../renderer/features/notification-targets/target-dialog.tsx'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { defaultNotificationRules } from '../../../server/contract/notification-defaults.ts'
import { type NotificationTarget, notificationTarget } from '../../../server/contract/notifications.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSession = (is_instance_owner: boolean) => {
  const session = createExample(instanceOperations.getSession.success.json)
  return { ...session, user: { ...session.user, is_instance_owner } }
}
const createTarget = (own: Partial<NotificationTarget> = {}) =>
  createExample(notificationTarget, { id: 'tgt_1', type: 'email', name: 'Team', rules: defaultNotificationRules, is_enabled: true, ...own })

interface State {
  slug?: string | null
  target?: NotificationTarget | null
  canSendEmail?: boolean
  isOwner?: boolean
  answers?: PartOptions['answers']
}
const openDialog = ({ slug = 'my-shop', target = null, canSendEmail = true, isOwner = true, answers = {} }: State = {}) => {
  const onClose = vi.fn()
  const part = renderPart(<TargetDialog slug={slug} target={target} canSendEmail={canSendEmail} onClose={onClose} />, {
    data: [[queryKeys.session, createSession(isOwner)]],
    answers,
  })
  return { onClose, ...part }
}
const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name })
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const readEvents = () =>
  screen.getAllByRole<HTMLInputElement>('checkbox').map((one) => `${one.parentElement?.textContent}${one.checked ? ' (on)' : ''}`)

test.each<[string, State, string]>([
  ['of a project', {}, 'Deployment failed (on), Deployment ready, App crashed (on), Error rate'],
  [
    'of the account, for the owner of the instance',
    { slug: null },
    'Deployment failed (on), Deployment ready, App crashed (on), Error rate, Disk nearly full, Certificates expire or cannot be issued',
  ],
  ['of the account, for another user', { slug: null, isOwner: false }, 'Deployment failed (on), Deployment ready, App crashed (on), Error rate'],
  [
    'of a target',
    {
      target: createTarget({
        rules: { ...defaultNotificationRules, app_crashed: false, deployment_ready: true, error_rate: { percent: 2, minutes: 9 } },
      }),
    },
    'Deployment failed (on), Deployment ready (on), App crashed, Error rate (on)',
  ],
])('the events %s', (_, state, expected) => {
  openDialog(state)
  expect(readEvents().join(', ')).toBe(expected)
})

test.each([
  ['email', true, 'Email address', 'email', null],
  ['email', false, 'Email address', 'email', 'This instance has no mail server yet: set HOMEPORT_SMTP_URL.'],
  ['webhook', false, 'URL', 'url', 'Gets POST requests with JSON, signed with a secret that is shown once.'],
  [
    'slack',
    false,
    'Webhook URL',
    'url',
    'Of an incoming webhook. Mattermost, Rocket.Chat and Discord (with /slack at the end) work too. It is not shown again.',
  ],
])('the address of a new target by %s, with a mail server: %s', async (type, canSendEmail, label, inputType, hint) => {
  const { user } = openDialog({ canSendEmail })
  await user.selectOptions(screen.getByRole('combobox', { name: 'Type' }), type)
  expect(field(label).type).toBe(inputType)
  const hints = [...document.querySelectorAll('.field-hint')].map(({ textContent }) => textContent).filter((text) => text !== '')
  expect(hints).toEqual(hint === null ? [] : [hint])
})

const rules = { deployment_failed: true, deployment_ready: false, app_crashed: true, error_rate: null, disk: false, certificate: false }
test.each([
  ['a project', 'my-shop', 'createNotificationTarget', { slug: 'my-shop' }],
  ['the account', null, 'createAccountNotificationTarget', {}],
])('a target is added to %s, by default without a name', async (_, slug, operation, params) => {
  const { user, sent } = openDialog({ slug })
  expect(button('Add target').disabled).toBe(true)
  await user.type(field('Email address'), ' ')
  expect(button('Add target').disabled).toBe(true)
  await user.type(field('Email address'), 'ada@example.com')
  await user.click(button('Add target'))
  expect(sent).toEqual([{ operation, params, body: { rules, type: 'email', address: 'ada@example.com' } }])
})

test('a target is added with a name, another type and other events', async () => {
  const { user, sent } = openDialog({ slug: null })
  await user.selectOptions(screen.getByRole('combobox', { name: 'Type' }), 'webhook')
  await user.type(field('URL'), 'https://hooks.example.com/')
  await user.type(field('Name'), ' Team ')
  await user.click(screen.getByRole('checkbox', { name: 'App crashed' }))
  await user.click(screen.getByRole('checkbox', { name: 'Disk nearly full' }))
  await user.click(screen.getByRole('checkbox', { name: 'Error rate' }))
  await user.clear(screen.getByRole('spinbutton', { name: 'Above (%)' }))
  await user.type(screen.getByRole('spinbutton', { name: 'Above (%)' }), '2.5')
  await user.clear(screen.getByRole('spinbutton', { name: 'For (minutes)' }))
  await user.type(screen.getByRole('spinbutton', { name: 'For (minutes)' }), '10')
  await user.click(button('Add target'))
  expect(sent[0]?.body).toEqual({
    type: 'webhook',
    address: 'https://hooks.example.com/',
    name: 'Team',
    rules: { ...rules, app_crashed: false, disk: true, error_rate: { percent: 2.5, minutes: 10 } },
  })
})

test('a threshold is offered with the error rate only', async () => {
  const { user } = openDialog()
  expect(screen.queryAllByRole('spinbutton').length).toBe(0)
  await user.click(screen.getByRole('checkbox', { name: 'Error rate' }))
  const fields = screen.getAllByRole<HTMLInputElement>('spinbutton')
  expect(fields.map(({ value, min, max, step }) => [value, min, max, step])).toEqual([
    ['5', '0.1', '100', 'any'],
    ['5', '1', '60', '1'],
  ])
})

test.each([
  ['a project', 'my-shop', 'updateNotificationTarget', { slug: 'my-shop', id: 'tgt_1' }],
  ['the account', null, 'updateAccountNotificationTarget', { id: 'tgt_1' }],
])('a target of %s is changed, and the dialog closes', async (_, slug, operation, params) => {
  const answer = { target: createTarget() }
  const { user, sent, onClose } = openDialog({
    slug,
    target: createTarget({ rules: { ...defaultNotificationRules, error_rate: { percent: 2, minutes: 9 } } }),
    answers: { updateNotificationTarget: answer, updateAccountNotificationTarget: answer },
  })
  expect([screen.getByRole('dialog', { name: 'Edit “Team”' }).textContent.includes('Type'), field('Name').value]).toEqual([false, 'Team'])
  expect(screen.getAllByRole<HTMLInputElement>('spinbutton').map(({ value }) => value)).toEqual(['2', '9'])
  await user.click(screen.getByRole('switch', { name: 'Send notifications' }))
  await user.click(button('Save target'))
  expect(sent).toEqual([
    { operation, params, body: { name: 'Team', is_enabled: false, rules: { ...rules, error_rate: { percent: 2, minutes: 9 } } } },
  ])
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce())
})

test('a target that is off, without an error rate, is turned on', async () => {
  const { user, sent } = openDialog({ target: createTarget({ is_enabled: false }) })
  expect(screen.getByRole('switch').getAttribute('aria-checked')).toBe('false')
  await user.clear(field('Name'))
  await user.click(screen.getByRole('switch'))
  await user.click(button('Save target'))
  expect(sent[0]?.body).toEqual({ is_enabled: true, rules })
})

test.each<[string, string | null, string | null, string]>([
  ['a target', null, null, 'Target added Team gets notifications from now on. Send a test to see that it works. Done [Close]'],
  ['a target that gets nothing yet', null, 'This instance has no mail server.', 'Target added This instance has no mail server. Done [Close]'],
  [
    'a webhook',
    'whsec_1',
    null,
    'Signing secret of “Team” Copy it now: it is not shown again. Your server verifies with it that a request is from this instance. whsec_1 [Copy secret] Compare v1 of the header Homeport-Signature with the HMAC-SHA256 of the time, a dot and the body. Help has the code. Done [Close]',
  ],
])('after adding %s', async (_, signing_secret, warning, expected) => {
  const { user, text, onClose } = openDialog({ answers: { createNotificationTarget: { target: createTarget(), signing_secret, warning } } })
  await user.type(field('Email address'), 'ada@example.com')
  await user.click(button('Add target'))
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Add target' })).toBeNull())
  expect(text()).toBe(expected)
  await user.click(button('Done'))
  expect(onClose.mock.calls.length).toBe(signing_secret === null ? 1 : 0)
})

test.each([
  ['invalid_input', 'Use a public address.'],
  ['project_not_found', 'There is no such project.'],
] as const)('a refusal with %s', async (code, expected) => {
  const { user } = openDialog({ answers: { createNotificationTarget: problemResponse(code, expected) } })
  await user.type(field('Email address'), 'ada@example.com')
  await user.click(button('Add target'))
  await screen.findByRole('alert')
  expect(field('Email address').getAttribute('aria-invalid')).toBe(code === 'invalid_input' ? 'true' : null)
})
