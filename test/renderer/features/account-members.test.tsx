import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { OneTimeLinkDialog } from '../../../renderer/features/account/member-dialogs.tsx'
import { Members } from '../../../renderer/features/account/members.tsx'
import AccountPage from '../../../renderer/features/account/page.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { billingStatus } from '../../../server/contract/billing.ts'
import { instanceOperations, user } from '../../../server/contract/instance.ts'
import { invitation, team, teamMember } from '../../../server/contract/teams.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSession = (email_verified = true) =>
  createExample(instanceOperations.getSession.success.json, { user: createExample(user, { email_verified }) })
const members = {
  members: [
    createExample(teamMember, { user_id: 'usr_1', email: 'ada@example.com', role: 'owner' }),
    createExample(teamMember, { user_id: 'usr_2', email: 'ben@example.com', role: 'member' }),
  ],
  invitations: [createExample(invitation, { id: 'inv_1', email: 'cy@example.com' })],
  teams: [createExample(team, { account_id: 'acc_2', owner_email: 'eve@example.com' })],
}
const noContent = () => new Response(null, { status: 204 })
const renderMembers = (answers: PartOptions['answers'] = {}, data: PartOptions['data'] = []) =>
  renderPart(<Members />, { data: [[queryKeys.session, createSession()], [queryKeys.team, members], ...data], answers })
const button = (name: string) => screen.getByRole('button', { name })
const pageData: PartOptions['data'] = [
  [queryKeys.session, createSession()],
  [[...queryKeys.tokens, true], { pages: [{ api_tokens: [], next_cursor: null }], pageParams: [null] }],
  [[...queryKeys.tokens, false], { pages: [{ api_tokens: [], next_cursor: null }], pageParams: [null] }],
  [queryKeys.billing, createExample(billingStatus)],
  [queryKeys.team, members],
]
const headings = () => screen.getAllByRole('heading', { level: 2 }).map(({ textContent }) => textContent)

test('the page of an instance has members and notifications', () => {
  const { text } = renderPart(<AccountPage />, { data: pageData })
  expect(text()).toContain('Account ada@example.com API tokens')
  expect(headings()).toEqual(['API tokens', 'No tokens yet', 'Plan and card', 'Members'])
  expect(text()).toContain('Notifications about all projects by email, webhook or Slack.')
})

test('the page of a hosted account has neither members nor notifications', () => {
  useConnection.setState({ current: { ...localConnection, id: 'rem_1' } })
  const { text } = renderPart(<AccountPage />, { data: [...pageData, [queryKeys.session, null]] })
  expect(headings()).toEqual(['API tokens', 'No tokens yet', 'Plan and card'])
  expect(text()).toMatch(/^Account API tokens/)
  expect(text()).not.toContain('Notifications')
})

test('the page appears when everything has loaded', () => {
  const { text } = renderPart(<AccountPage />, { data: pageData.filter(([key]) => key !== queryKeys.team) })
  expect(text()).toBe('Account ada@example.com Loading')
})

test('the owner cannot be removed, others can', () => {
  expect(renderMembers().text()).toBe(
    'Members Join a team Invite member [Members] ada@example.com Owner ben@example.com Member since Jan 31, 2026 [Remove ben@example.com from the team…] ' +
      'cy@example.com Invited; expires Jan 31, 2026 [Revoke the invitation for cy@example.com] ' +
      'Teams you belong to [Teams you belong to] eve@example.com Member since Jan 31, 2026 [Leave the team of eve@example.com…]',
  )
})

test('a user without other teams sees none', () => {
  expect(renderMembers({}, [[queryKeys.team, { ...members, teams: [], invitations: [] }]]).text()).not.toContain('Teams you belong to')
})

test('members load', () => {
  expect(renderPart(<Members />).text()).toBe('Members Join a team Invite member Loading')
})

test('members that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { getTeam: problemResponse('forbidden', 'Not for you.') }
  const { user, text } = renderPart(<Members />, { answers })
  expect(await screen.findByText('Not for you.')).toBeTruthy()
  expect(text()).not.toContain('Loading')
  answers.getTeam = members
  await user.click(button('Try again'))
  expect(await screen.findByText('cy@example.com')).toBeTruthy()
})

test('an address that is not verified gets a new link', async () => {
  const { user, sent, text } = renderMembers({ sendVerification: { was_sent: true, message: 'Sent to ada@example.com.' } }, [
    [queryKeys.session, createSession(false)],
  ])
  expect(text()).toContain('Your email address is not verified. Until you verify it, you cannot create projects or invite people.')
  await user.click(button('Send verification link'))
  expect(sent).toEqual([{ operation: 'sendVerification', params: {} }])
  expect(await screen.findByText(/Sent to ada@example.com/)).toBeTruthy()
})

test('a member is removed after their address is typed', async () => {
  const { user, sent, text } = renderMembers({ removeMember: noContent() })
  await user.click(button('Remove ben@example.com from the team…'))
  expect(text()).toBe(
    'Remove this member? They lose access to your projects. Their deployments stay. Type ben@example.com to confirm Cancel Remove member [Close]',
  )
  expect(button('Remove member')).toHaveProperty('disabled', true)
  await user.type(screen.getByLabelText('Type ben@example.com to confirm'), 'ben@example.com')
  await user.click(button('Remove member'))
  expect(sent).toEqual([{ operation: 'removeMember', params: { id: 'usr_2' } }])
  await expect.poll(() => screen.queryByRole('dialog')).toBeNull()
})

test('a team is left after the address of its owner is typed', async () => {
  const { user, sent, text } = renderMembers()
  await user.click(button('Leave the team of eve@example.com…'))
  expect(text()).toBe(
    'Leave this team? You lose access to its projects. You need a new invitation to rejoin. Type eve@example.com to confirm Cancel Leave team [Close]',
  )
  await user.type(screen.getByLabelText('Type eve@example.com to confirm'), 'eve@example.com')
  await user.click(button('Leave team'))
  expect(sent).toEqual([{ operation: 'leaveTeam', params: {}, body: { account_id: 'acc_2' } }])
  expect(button('Leave team').getAttribute('aria-busy')).toBe('true')
})

test('a removal can be canceled', async () => {
  const { user, sent } = renderMembers()
  await user.click(button('Remove ben@example.com from the team…'))
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(sent).toEqual([])
})

test('an invitation is revoked', async () => {
  const { user, sent } = renderMembers({ revokeInvitation: noContent() })
  await user.click(button('Revoke the invitation for cy@example.com'))
  expect(sent).toEqual([{ operation: 'revokeInvitation', params: { id: 'inv_1' } }])
  await waitFor(() => expect(useUi.getState().toasts.map(({ text }) => text)).toEqual(['Invitation revoked.']))
})

test('a person is invited, and the link is shown', async () => {
  const { user, sent, text } = renderMembers({
    createInvitation: {
      url: 'https://example.com/join',
      expires_at: '2026-01-31T12:00:00.000Z',
      was_sent: false,
      invitation: createExample(invitation, { email: 'dan@example.com' }),
    },
  })
  await user.click(button('Invite member'))
  await user.type(screen.getByLabelText('Email'), 'dan@example.com')
  await user.click(button('Create invitation'))
  expect(sent).toEqual([{ operation: 'createInvitation', params: {}, body: { email: 'dan@example.com' } }])
  expect(await screen.findByText('https://example.com/join')).toBeTruthy()
  expect(text()).toContain(
    'Invitation for dan@example.com No email was sent: share this link yourself. It works once, expires on Jan 31, 2026, and is not shown again.',
  )
})

test('a link that was sent by email says so', () => {
  const link = { url: 'https://example.com/join', expires_at: '2026-01-31T12:00:00.000Z', was_sent: true }
  expect(renderPart(<OneTimeLinkDialog title="Link" link={link} onClose={() => {}} />).text()).toContain(
    'Link It was also sent by email. It works once',
  )
})

test.each([
  ['a taken address is an error of its field', 'email_taken', 'Email Is taken. Create invitation'],
  ['another error is below the field', 'forbidden', 'Email Is taken. forbidden req_'],
] as const)('%s', async (_, code, expected) => {
  const { user, text } = renderMembers({ createInvitation: problemResponse(code, 'Is taken.') })
  await user.click(button('Invite member'))
  await user.type(screen.getByLabelText('Email'), 'x@example.com')
  await user.click(button('Create invitation'))
  expect(await screen.findByRole('alert')).toBeTruthy()
  expect(text().replace('x@example.com ', '')).toContain(expected)
})

test.each([
  ['link', ' https://example.com/app/join?code=abc ', 'abc'],
  ['code', ' abc ', 'abc'],
  ['link without a code', 'https://example.com/', 'https://example.com/'],
])('a team is joined with a %s', async (_, typed, code) => {
  const { user, sent } = renderMembers({ acceptInvitation: { team: createExample(team) } })
  await user.click(button('Join a team'))
  await user.type(screen.getByLabelText('Invitation link'), typed)
  await user.click(button('Join team'))
  expect(sent).toEqual([{ operation: 'acceptInvitation', params: {}, body: { code } }])
})
