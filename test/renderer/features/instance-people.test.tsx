import { fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { People } from '../../../renderer/features/instance/people.tsx'
import InstanceSettingsPage from '../../../renderer/features/instance/settings-page.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { account, instanceOperations, settings, user as userSchema } from '../../../server/contract/instance.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createPerson = (is_instance_owner: boolean, email_verified: boolean) => ({
  ...createExample(userSchema, { id: 'usr_1', email: 'ada@example.com', is_instance_owner, email_verified }),
  account: createExample(account, { plan: 'pro' }),
})
const person = createPerson(false, false)
const session = { user: { is_instance_owner: true }, instance: { version: '1.0.0', runtime: { name: 'docker' } } }
const renderPeople = (people = [person], answers = {}) => renderPart(<People />, { data: [[queryKeys.users, people]], answers })
const openAction = async (action: string, answers = {}) => {
  const part = renderPeople([person], answers)
  await part.user.click(screen.getByRole('button', { name: 'Actions for ada@example.com' }))
  await part.user.click(screen.getByRole('menuitem', { name: action }))
  return part
}
const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
const lastButton = (name: string) => screen.getAllByRole<HTMLButtonElement>('button', { name }).at(-1) ?? document.body
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => [kind, text])

test.each([
  [true, true, 'ada@example.com Instance owner', ['Mark email as verified', 'Remove…']],
  [true, false, 'ada@example.com Instance owner, email not verified', ['Remove…']],
  [false, true, 'ada@example.com Pro plan', ['Mark email as verified']],
  [false, false, 'ada@example.com Pro plan, email not verified', []],
])('a person (owner: %s, verified: %s) and the actions that are not possible', async (isOwner, isVerified, expected, disabled) => {
  const { user, text } = renderPeople([createPerson(isOwner, isVerified)])
  expect(text()).toBe(`People Add person ${expected} [Actions for ada@example.com]`)
  await user.click(screen.getByRole('button', { name: 'Actions for ada@example.com' }))
  const items = screen.getAllByRole('menuitem')
  expect(items.map(({ textContent }) => textContent)).toEqual(['Share projects…', 'Create sign-in link…', 'Mark email as verified', 'Remove…'])
  expect(items.filter((item) => item.getAttribute('aria-disabled') === 'true').map(({ textContent }) => textContent)).toEqual(disabled)
})

test('people load, and a failure can be tried again', async () => {
  const answers: { listUsers: Response } = { listUsers: problemResponse('forbidden', 'Not for you.') }
  const { user, text } = renderPart(<People />, { answers })
  expect(text()).toBe('People Add person Loading')
  await waitFor(() => expect(text()).toMatch(/^People Add person Not for you\. forbidden .*Try again$/))
  answers.listUsers = Response.json({ users: [person] })
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(text()).toContain('ada@example.com Pro plan'))
})

test('an email is marked as verified', async () => {
  const { sent } = await openAction('Mark email as verified')
  expect(sent).toEqual([{ operation: 'verifyUser', params: { email: 'ada@example.com' } }])
})

test.each([
  [true, 'It was also sent by email.'],
  [false, 'No email was sent: share this link yourself.'],
])('a sign-in link (sent: %s)', async (was_sent, expected) => {
  const { sent, text } = await openAction('Create sign-in link…', {
    createVerificationLink: { user: person, url: 'https://link', expires_at: '2026-01-31T12:00:00.000Z', was_sent },
  })
  expect(sent).toEqual([{ operation: 'createVerificationLink', params: {}, body: { email: 'ada@example.com' } }])
  await waitFor(() =>
    expect(text()).toContain(`Sign-in link for ada@example.com ${expected} It works once, expires on Jan 31, 2026, and is not shown again.`),
  )
})

test('a person is removed once their email is typed', async () => {
  const { user, sent, text } = await openAction('Remove…', { removeUser: new Response(null, { status: 204 }) })
  expect(text()).toContain('Remove this person? The account and all its projects are permanently deleted. Type ada@example.com to confirm')
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Remove person' }).disabled).toBe(true)
  fill('Type ada@example.com to confirm', 'ada@example.com')
  await user.click(lastButton('Remove person'))
  expect(sent).toEqual([{ operation: 'removeUser', params: { email: 'ada@example.com' } }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})

test.each([true, false])('a person is added with a token (verified: %s)', async (verified) => {
  const { user, sent, text } = renderPeople([], { addUser: { user: person, account: person.account, token: 'svc_1' } })
  await user.click(screen.getByRole('button', { name: 'Add person' }))
  expect(text()).toContain('Add person They get their own account and API token.')
  fill('Email', ' ada@example.com')
  if (!verified) await user.click(screen.getByLabelText('Mark email as verified'))
  await user.click(lastButton('Add person'))
  expect(sent).toEqual([{ operation: 'addUser', params: {}, body: { email: 'ada@example.com', verified } }])
  await waitFor(() =>
    expect(text()).toContain('ada@example.com added This is their API token. Copy it now: it is not shown again. svc_1 [Copy token]'),
  )
  await user.click(lastButton('Done'))
  await user.click(lastButton('Close anyway'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test.each<[Parameters<typeof problemResponse>[0], string]>([
  ['email_taken', 'Email ada@example.com That failed. Mark'],
  ['invalid_input', 'That failed. invalid_input'],
])('a person who cannot be added: %s', async (code, expected) => {
  const { user, text } = renderPeople([], { addUser: problemResponse(code, 'That failed.') })
  await user.click(screen.getByRole('button', { name: 'Add person' }))
  fill('Email', 'ada@example.com')
  await user.click(lastButton('Add person'))
  await waitFor(() => expect(text()).toContain(expected))
  expect(toasts()).toEqual([])
})

test('the projects of a person are shared', async () => {
  const { user, sent, text } = await openAction('Share projects…', { addTeamMember: { ok: true } })
  expect(text()).toContain('Share projects of ada@example.com The other person can see and use all of them.')
  fill('Email of the other person', 'bob@example.com ')
  await user.click(lastButton('Share projects'))
  expect(sent).toEqual([{ operation: 'addTeamMember', params: {}, body: { owner_email: 'ada@example.com', member_email: 'bob@example.com' } }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(toasts()).toEqual([['done', 'Projects shared.']])
})

test('projects that cannot be shared say why at the field', async () => {
  const { user, text } = await openAction('Share projects…', { addTeamMember: problemResponse('user_not_found', 'There is no such person.') })
  fill('Email of the other person', 'bob@example.com')
  await user.click(lastButton('Share projects'))
  await waitFor(() => expect(text()).toContain('Email of the other person bob@example.com There is no such person. Share projects'))
  expect(toasts()).toEqual([])
})

test.each(['off', 'invited', 'open'] as const)('new accounts can be changed to %s', (sign_up) => {
  const current = sign_up === 'off' ? 'open' : 'off'
  const { sent } = renderPart(<People />, {
    data: [
      [queryKeys.users, []],
      [queryKeys.settings, createExample(settings, { sign_up: current })],
    ],
  })
  expect(screen.getByLabelText<HTMLSelectElement>('New accounts').value).toBe(current)
  fill('New accounts', sign_up)
  return waitFor(() => expect(sent).toEqual([{ operation: 'updateSettings', params: {}, body: { sign_up } }]))
})

test('new accounts have no setting while the settings are unknown', () => {
  renderPeople()
  expect(screen.queryByLabelText('New accounts')).toBeNull()
})

test.each<[string, [readonly string[], unknown][], string, string]>([
  ['waits for people', [[queryKeys.settings, createExample(settings)]], 'Loading', 'People'],
  ['waits for settings', [[queryKeys.users, []]], 'Loading', 'People'],
  [
    'shows both together',
    [
      [queryKeys.settings, createExample(settings)],
      [queryKeys.users, []],
    ],
    'People Add person',
    'Loading',
  ],
])('the page %s', (_, data, shown, hidden) => {
  const { text } = renderPart(<InstanceSettingsPage />, { data: [[queryKeys.session, session], ...data] })
  expect(text()).toContain(shown)
  expect(text()).not.toContain(hidden)
})

test('others do not see the settings', () => {
  const { text } = renderPart(<InstanceSettingsPage />, { data: [[queryKeys.session, { ...session, user: { is_instance_owner: false } }]] })
  expect(text()).toContain('Only the instance owner can change settings.')
})

test('the page waits for the people of an owner whose session has just loaded', async () => {
  const loaded = createExample(instanceOperations.getSession.success.json)
  const { text } = renderPart(<InstanceSettingsPage />, {
    data: [[queryKeys.settings, createExample(settings)]],
    answers: { getSession: { ...loaded, user: { ...loaded.user, is_instance_owner: true } } },
  })
  await screen.findByRole('navigation', { name: 'Instance' })
  expect(text()).not.toContain('People')
})
