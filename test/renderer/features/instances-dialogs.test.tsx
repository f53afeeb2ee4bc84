import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { ReactElement } from 'react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { AddInstanceDialog } from '../../../renderer/features/instances/add-instance-dialog.tsx'
import { EditInstanceDialog, RemoveInstanceDialog, ReplaceTokenDialog } from '../../../renderer/features/instances/instance-dialogs.tsx'
import { TokenPrompt } from '../../../renderer/features/instances/token-prompt.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { allOperations } from '../../../server/contract/index.ts'
import type { Remote } from '../../../server/contract/remotes.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const example = createExample(allOperations.updateRemote.success.json).remote
const remote: Remote = { ...example, id: 'rem_1', name: 'Server', origin: 'https://deploy.example.com', hue: 300, is_signed_in: true }
const connect = (own: Partial<Remote> = {}) => {
  useConnection.getState().setRemotes([{ ...remote, ...own }])
  return useConnection.getState().connections[1] ?? localConnection
}
const renderDialog = (createElement: (onClose: () => void) => ReactElement, answers = {}) => {
  const closed: string[] = []
  return {
    closed,
    ...renderPart(
      createElement(() => closed.push('closed')),
      { answers },
    ),
  }
}
const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const colors = () =>
  within(screen.getByRole('group', { name: 'Frame color' }))
    .getAllByRole<HTMLInputElement>('radio')
    .filter(({ checked }) => checked)
    .map((one) => one.closest('label')?.textContent)
const toasts = () => useUi.getState().toasts.map(({ text }) => text)
const params = { id: 'rem_1' }

afterEach(() => useConnection.getState().reset())

test('an instance is added with its name and color', async () => {
  const { user, sent, closed } = renderDialog((onClose) => <AddInstanceDialog onClose={onClose} />, { addRemote: { remote } })
  expect(screen.getByLabelText<HTMLInputElement>('Name').placeholder).toBe('deploy.example.com')
  fill('URL', ' http://10.0.0.2:4600/app ')
  expect(screen.getByLabelText<HTMLInputElement>('Name').placeholder).toBe('10.0.0.2:4600')
  fill('API token', ' svc_1 ')
  fill('Name', ' Server ')
  await user.click(screen.getByLabelText('Teal'))
  await user.click(button('Add instance'))
  expect(sent).toEqual([{ operation: 'addRemote', params: {}, body: { url: 'http://10.0.0.2:4600/app', token: 'svc_1', hue: 195, name: 'Server' } }])
  await waitFor(() => expect(closed).toEqual(['closed']))
  expect(toasts()).toEqual(['Server added.'])
})

test('an instance is added with a color that is not used, without a name', async () => {
  connect({ hue: 300 })
  const { user, sent } = renderDialog((onClose) => <AddInstanceDialog onClose={onClose} />)
  expect(colors()).toEqual(['Amber'])
  fill('URL', 'https://deploy.example.com')
  fill('API token', 'svc_1')
  fill('Name', ' ')
  await user.click(button('Add instance'))
  expect(sent).toMatchObject([{ body: { hue: 60 } }])
  expect(sent[0]?.body).not.toHaveProperty('name')
})

test.each<[Parameters<typeof problemResponse>[0], string]>([
  ['remote_exists', 'URL https://a.example That failed. API token'],
  ['remote_unreachable', 'URL https://a.example That failed. API token'],
  ['remote_token_refused', 'API token svc_1 That failed. Name'],
  ['invalid_input', 'That failed. invalid_input'],
])('an instance that is not added: %s', async (code, expected) => {
  const { user, text } = renderDialog((onClose) => <AddInstanceDialog onClose={onClose} />, { addRemote: problemResponse(code, 'That failed.') })
  fill('URL', 'https://a.example')
  fill('API token', 'svc_1')
  await user.click(button('Add instance'))
  await waitFor(() => expect(text()).toContain(expected))
  expect(text().includes(`That failed. ${code}`)).toBe(code === 'invalid_input')
})

test('the name and the color of an instance are changed', async () => {
  const connection = connect()
  const { user, sent, closed, text } = renderDialog((onClose) => <EditInstanceDialog connection={connection} onClose={onClose} />, {
    updateRemote: { remote },
  })
  expect(text()).toContain('Name and color For deploy.example.com, only in this dashboard.')
  expect(colors()).toEqual(['Violet'])
  fill('Name', ' Office ')
  await user.click(screen.getByLabelText('Green'))
  await user.click(button('Save'))
  expect(sent).toEqual([{ operation: 'updateRemote', params, body: { name: 'Office', hue: 150 } }])
  await waitFor(() => expect(closed).toEqual(['closed']))
})

test.each([
  [300, 7],
  [42, 8],
])('the color %i can be kept', (hue, count) => {
  const connection = connect({ hue })
  renderDialog((onClose) => <EditInstanceDialog connection={connection} onClose={onClose} />)
  expect(screen.getAllByRole('radio')).toHaveLength(count)
  expect(colors()).toEqual([hue === 300 ? 'Violet' : 'Current'])
})

test.each<[string, (connection: ReturnType<typeof connect>, onClose: () => void) => ReactElement, string, string | null]>([
  ['name', (connection, onClose) => <EditInstanceDialog connection={connection} onClose={onClose} />, 'Save', null],
  ['token', (connection, onClose) => <ReplaceTokenDialog connection={connection} onClose={onClose} />, 'Save', 'API token'],
  ['entry', (connection, onClose) => <RemoveInstanceDialog connection={connection} onClose={onClose} />, 'Remove instance', 'Type Server to confirm'],
])('a problem with the %s is shown', async (_, createElement, action, label) => {
  const connection = connect()
  const problem = problemResponse('remote_not_found', 'It is gone.')
  const { user, text, closed } = renderDialog((onClose) => createElement(connection, onClose), { updateRemote: problem, deleteRemote: problem })
  if (label !== null) fill(label, 'Server')
  await user.click(button(action))
  await waitFor(() => expect(text()).toContain('It is gone. remote_not_found'))
  expect([closed, toasts()]).toEqual([[], []])
})

test('an instance is removed once its name is typed', async () => {
  const connection = connect()
  const { user, sent, closed, text } = renderDialog((onClose) => <RemoveInstanceDialog connection={connection} onClose={onClose} />, {
    deleteRemote: new Response(null, { status: 204 }),
  })
  expect(text()).toContain('Remove Server? Removes deploy.example.com, its name, color and token from this dashboard.')
  expect(button('Remove instance').disabled).toBe(true)
  fill('Type Server to confirm', 'Server')
  await user.click(button('Remove instance'))
  expect(sent).toEqual([{ operation: 'deleteRemote', params }])
  await waitFor(() => expect(closed).toEqual(['closed']))
  expect(toasts()).toEqual(['Server was removed from this dashboard.'])
})

test('a new token is saved, and the data of the instance is loaded again', async () => {
  const connection = connect()
  connection.cache.setQueryData(queryKeys.session, {})
  useConnection.getState().rejectToken('rem_1')
  const { user, sent, closed, text } = renderDialog((onClose) => <ReplaceTokenDialog connection={connection} onClose={onClose} />, {
    updateRemote: { remote },
  })
  expect(text()).toContain('New token For Server at deploy.example.com. It is verified before it replaces the current one.')
  fill('API token', ' svc_2 ')
  await user.click(button('Save'))
  expect(sent).toEqual([{ operation: 'updateRemote', params, body: { token: 'svc_2' } }])
  await waitFor(() => expect(closed).toEqual(['closed']))
  expect(toasts()).toEqual(['New token saved for Server.'])
  expect(connection.cache.getQueryData(queryKeys.session)).toBeUndefined()
  expect(useConnection.getState().rejected_ids).toEqual([])
})

test('a token that is refused is explained at its field', async () => {
  const connection = connect()
  const { user, text } = renderDialog((onClose) => <ReplaceTokenDialog connection={connection} onClose={onClose} />, {
    updateRemote: problemResponse('remote_token_refused', 'It refused the token.'),
  })
  fill('API token', 'svc_2')
  await user.click(button('Save'))
  await waitFor(() => expect(text()).toContain('API token svc_2 It refused the token. Cancel'))
  expect(text()).not.toContain('remote_token_refused')
})

const rest = 'Create a token there under Account, API tokens. API token Stored by Homeport on this machine, not in this browser. Continue'
const links = 'Back to this machine All instances'
test.each([
  [true, `The instance rejected the saved token: it expired or was revoked. ${rest} Try the saved token again ${links}`],
  [false, `No token is saved for this instance: you signed out or Homeport restarted. ${rest} ${links}`],
])('an instance asks for a token (rejected: %s)', (isRejected, expected) => {
  const connection = connect()
  if (isRejected) useConnection.getState().rejectToken('rem_1')
  const { text } = renderPart(<TokenPrompt connection={connection} />)
  expect(text().replace('machineAll', 'machine All')).toBe(`deploy.example.com New token for Server ${expected}`)
})

test('the saved token is tried again', async () => {
  const connection = connect()
  useConnection.getState().rejectToken('rem_1')
  const { user } = renderPart(<TokenPrompt connection={connection} />)
  await user.click(button('Try the saved token again'))
  expect(useConnection.getState().rejected_ids).toEqual([])
  expect(screen.queryByRole('button', { name: 'Try the saved token again' })).toBeNull()
})

test('the page of an instance takes a new token', async () => {
  const connection = connect()
  const { user, sent, text } = renderDialog(() => <TokenPrompt connection={connection} />, {
    updateRemote: problemResponse('remote_not_found', 'It is gone.'),
  })
  fill('API token', 'svc_2')
  await user.click(button('Continue'))
  expect(sent).toEqual([{ operation: 'updateRemote', params, body: { token: 'svc_2' } }])
  await waitFor(() => expect(text()).toContain('It is gone. remote_not_found'))
})
