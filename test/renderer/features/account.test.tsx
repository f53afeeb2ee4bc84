import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { Tokens } from '../../../renderer/features/account/tokens.tsx'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { project } from '../../../server/contract/projects.ts'
import { type ScopedToken, scopedToken } from '../../../server/contract/tokens.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createToken = (own: Partial<ScopedToken> = {}) =>
  createExample(scopedToken, { id: 'tok_1', name: 'CI', last_used_at: null, expires_at: null, scope: null, project: null, ...own })
const tokenData = (tokens: ScopedToken[], next_cursor: string | null = null): [readonly unknown[], unknown] => [
  [...queryKeys.tokens, true],
  { pages: [{ api_tokens: tokens, next_cursor }], pageParams: [null] },
]
const projects = {
  pages: [
    { projects: [createExample(project, { slug: 'shop', name: 'Shop' }), createExample(project, { slug: 'blog', name: 'Blog' })], next_cursor: null },
  ],
  pageParams: [null],
}
const renderTokens = (tokens: ScopedToken[], options: PartOptions = {}) =>
  renderPart(<Tokens />, { ...options, data: [tokenData(tokens), [queryKeys.projects, projects]] })
const button = (name: string) => screen.getByRole('button', { name })
const options = (label: string) => within(screen.getByLabelText(label)).getAllByRole('option')
const toasts = () => useUi.getState().toasts.map(({ text }) => text)

test.each<[string, Partial<ScopedToken>, string]>([
  ['with full access', {}, 'Full access Never used No expiration'],
  ['with a scope', { scope: 'read' }, 'Read Never used No expiration'],
  ['of a project', { scope: 'deploy', project: { slug: 'shop', name: 'Shop' } }, 'Deploy · Shop Never used No expiration'],
  ['that was used', { last_used_at: '2026-01-31T12:00:00.000Z' }, 'Full access Used Jan 31, 2026 No expiration'],
  ['that has expired', { expires_at: '2026-01-31T12:00:00.000Z' }, 'Full access Never used Expired Jan 31, 2026'],
  ['that expires', { expires_at: '2999-01-31T12:00:00.000Z' }, 'Full access Never used Expires Jan 31, 2999'],
])('a token %s', (_, own, expected) => {
  expect(renderTokens([createToken(own)]).text()).toBe(`API tokens Create token [API tokens] CI svc_AbCd…CdEf ${expected} [Revoke CI…]`)
})

test('tokens load', () => expect(renderPart(<Tokens />).text()).toBe('API tokens Loading'))

test('without tokens the section says what they are for', () => {
  expect(renderTokens([]).text()).toBe(
    'API tokens No tokens yet Programs, such as CI or the command line on another machine, sign in with a token. A token can be limited to a scope, a project and a time. Create token',
  )
  expect(button('Create token').className).toContain('button-primary')
})

test('tokens that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { listScopedTokens: problemResponse('forbidden', 'Not for you.') }
  const { user, text } = renderPart(<Tokens />, { answers })
  expect(await screen.findByText('Not for you.')).toBeTruthy()
  expect(text()).toMatch(/^API tokens Not for you. forbidden/)
  answers.listScopedTokens = { api_tokens: [createToken()], next_cursor: null }
  await user.click(button('Try again'))
  expect(await screen.findByText('CI')).toBeTruthy()
})

test('more tokens are shown on request', async () => {
  const { user } = renderPart(<Tokens />, {
    data: [tokenData([createToken()], 'next')],
    answers: { listScopedTokens: { api_tokens: [createToken({ id: 'tok_2', name: 'Laptop' })], next_cursor: null } },
  })
  await user.click(button('Show more'))
  expect(await screen.findByText('Laptop')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull()
})

test('a token is created with a scope, a project and a lifetime, and shown once', async () => {
  const { user, sent, text } = renderTokens([createToken()], {
    answers: { createScopedToken: { token: 'svc_secret', api_token: createToken({ name: 'Laptop', expires_at: '2999-01-31T12:00:00.000Z' }) } },
  })
  await user.click(button('Create token'))
  const submit = button('Create token')
  expect(submit).toHaveProperty('disabled', true)
  await user.type(screen.getByLabelText('Name'), ' ')
  expect(submit).toHaveProperty('disabled', true)
  await user.type(screen.getByLabelText('Name'), 'Laptop ')
  expect(options('Scope').map(({ textContent }) => textContent)).toEqual(['Read', 'Deploy', 'Admin'])
  expect(text()).toContain('Deployments, rollbacks, variables')
  await user.selectOptions(screen.getByLabelText('Scope'), 'read')
  expect(text()).toContain('No values of variables')
  expect(options('Project').map(({ textContent }) => textContent)).toEqual(['All projects', 'Shop', 'Blog'])
  await user.selectOptions(screen.getByLabelText('Project'), 'blog')
  await user.selectOptions(screen.getByLabelText('Expires in'), '7 days')
  await user.click(submit)
  expect(sent).toEqual([{ operation: 'createScopedToken', params: {}, body: { name: 'Laptop', expires_in_days: 7, scope: 'read', project: 'blog' } }])
  expect(await screen.findByText('svc_secret')).toBeTruthy()
  expect(text()).toContain('Token “Laptop” Copy it now: it is not shown again.')
  expect(text()).toContain('It expires on Jan 31, 2999.')
})

test('a token of all projects that does not expire', async () => {
  const { user, sent, text } = renderTokens([], { answers: { createScopedToken: { token: 'svc_secret', api_token: createToken() } } })
  await user.click(button('Create token'))
  await user.type(screen.getByLabelText('Name'), 'CI')
  await user.selectOptions(screen.getByLabelText('Expires in'), 'No expiration')
  await user.click(button('Create token'))
  expect(sent).toEqual([{ operation: 'createScopedToken', params: {}, body: { name: 'CI', scope: 'deploy' } }])
  expect(await screen.findByText('svc_secret')).toBeTruthy()
  expect(text()).toContain('It does not expire.')
})

test('a hosted account creates tokens without limits', async () => {
  useConnection.setState({ current: { ...localConnection, id: 'rem_1' } })
  const { user, sent, text } = renderPart(<Tokens />, {
    data: [
      [queryKeys.session, null],
      [[...queryKeys.tokens, false], { pages: [{ api_tokens: [], next_cursor: null }], pageParams: [null] }],
    ],
    answers: { createToken: problemResponse('invalid_input', 'Choose another name.') },
  })
  await user.click(button('Create token'))
  expect(screen.queryByLabelText('Scope')).toBeNull()
  await user.type(screen.getByLabelText('Name'), 'CI')
  await user.click(button('Create token'))
  expect(sent).toEqual([{ operation: 'createToken', params: {}, body: { name: 'CI', expires_in_days: 90 } }])
  expect(await screen.findByText('Choose another name.')).toBeTruthy()
  expect(text()).toContain('Choose another name. invalid_input')
})

test('an address opens the dialog for a new token, and closing it removes the parameter', async () => {
  history.replaceState(null, '', '/app/account?do=token')
  const { user } = renderTokens([createToken()])
  expect(screen.getByRole('dialog', { name: 'Create token' })).toBeTruthy()
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(location.search).toBe('')
})

test('other parameters of the address stay when the dialog closes', async () => {
  history.replaceState(null, '', '/app/account?at=tokens')
  const { user } = renderTokens([createToken()])
  expect(screen.queryByRole('dialog')).toBeNull()
  await user.click(button('Create token'))
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(location.search).toBe('?at=tokens')
})

test('a token is revoked after a question', async () => {
  const { user, sent, text } = renderTokens([createToken()], { answers: { revokeToken: new Response(null, { status: 204 }) } })
  await user.click(button('Revoke CI…'))
  expect(text()).toBe(
    'Revoke “CI”? Requests with svc_AbCd…CdEf are rejected immediately. This cannot be undone: create a new token to replace it. Cancel Revoke token [Close]',
  )
  await user.click(button('Revoke token'))
  expect(sent).toEqual([{ operation: 'revokeToken', params: { id: 'tok_1' } }])
  await expect.poll(() => screen.queryByRole('dialog')).toBeNull()
  expect(toasts()).toEqual(['Token revoked.'])
})
