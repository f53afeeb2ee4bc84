import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import type { InstanceState } from '../../../renderer/api/remotes.ts'
import InstancesPage from '../../../renderer/features/instances/page.tsx'
import { useConnection } from '../../../renderer/stores/connection.ts'
import { allOperations } from '../../../server/contract/index.ts'
import type { Remote } from '../../../server/contract/remotes.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const example = createExample(allOperations.updateRemote.success.json).remote
const createRemote = (own: Partial<Remote> = {}): Remote => ({
  ...example,
  id: 'rem_1',
  name: 'Server',
  origin: 'https://deploy.example.com',
  is_signed_in: true,
  keeps_token: 'keychain',
  ...own,
})
const answers: InstanceState = { name: 'answers', version: '1.2.3' }
interface PageOptions {
  remotes?: Remote[]
  isOwner?: boolean
  /** Of this machine, and of the remote instance. */
  states?: InstanceState[]
}
const renderPage = ({ remotes = [createRemote()], isOwner = true, states = [answers, answers] }: PageOptions = {}) => {
  useConnection.getState().setRemotes(remotes)
  return renderPart(<InstancesPage />, {
    data: [
      [queryKeys.session, { user: { is_instance_owner: isOwner }, instance: { version: '1.2.3' } }],
      [queryKeys.remotes, remotes],
      ...states.map((state, index): [readonly string[] | readonly unknown[], unknown] => [
        queryKeys.remoteState(index === 0 ? 'local' : `rem_${index}`, remotes[index - 1]?.is_signed_in ?? true),
        state,
      ]),
    ],
  })
}
/** The parts of a row, without its keys. */
const readRow = (index: number) => {
  const row = screen.getAllByRole('listitem')[index]
  const [identity, status, token] = [...(row?.children ?? [])]
    .slice(1)
    .map((part) => [...part.children].map(({ textContent }) => textContent).join(' | ') || part.textContent)
  return [identity, status, token]
}

afterEach(() => useConnection.getState().reset())

const unreachable: InstanceState = { name: 'silent', message: 'It does not respond.' }
test.each<[string, InstanceState, InstanceState, string, string]>([
  ['respond', answers, { name: 'answers', version: '2.0.0' }, 'Online | Homeport 1.2.3', 'Online | Homeport 2.0.0'],
  ['are hosted', answers, { name: 'answers', version: null }, 'Online | Homeport 1.2.3', 'Online | Hosted'],
  ['need a token', answers, { name: 'asks' }, 'Online | Homeport 1.2.3', 'Token required | Enter a new token'],
  ['do not respond', unreachable, unreachable, 'Unreachable | It may be starting', 'Unreachable | Retrying automatically'],
])('instances that %s', (_, home, remote, homeStatus, remoteStatus) => {
  renderPage({ states: [home, remote] })
  expect(readRow(0)).toEqual([`This machine | ${location.origin}`, homeStatus, 'This browser is signed in'])
  expect(readRow(1)).toEqual(['Server | https://deploy.example.com', remoteStatus, 'Token in keychain'])
  expect(screen.queryAllByTitle('It does not respond.')).toHaveLength(remote === unreachable ? 2 : 0)
})

test('an instance is asked for its state', () => {
  renderPage({ states: [], remotes: [createRemote({ keeps_token: 'session' })] })
  expect(readRow(1)).toEqual(['Server | https://deploy.example.com', ' | ', 'Token until you sign out'])
})

test('an instance without a token is not asked', async () => {
  renderPage({ remotes: [createRemote({ is_signed_in: false })], states: [answers] })
  await waitFor(() => expect(readRow(1)[1]).toBe('Token required | Enter a new token'))
})

test('each of the first nine instances has a key', () => {
  renderPage({ remotes: Array.from({ length: 9 }, (_, index) => createRemote({ id: `rem_${index + 1}`, is_signed_in: false })), states: [answers] })
  const keys = screen.getAllByRole('listitem').map((row) => [...row.querySelectorAll('kbd')].at(-1)?.textContent)
  expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', undefined])
})

test('the links lead to the instances', () => {
  renderPage()
  expect(screen.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual(['/app/', '/app/on/rem_1/'])
})

test('only another instance can be changed', async () => {
  const { user } = renderPage()
  expect(screen.queryByRole('button', { name: 'Actions for This machine' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Actions for Server' }))
  expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual(['Name and color…', 'New token…', 'Remove…'])
})

test.each([
  ['Name and color…', 'Name and color'],
  ['New token…', 'New token'],
  ['Remove…', 'Remove Server?'],
])('“%s” opens its dialog', async (action, title) => {
  const { user } = renderPage()
  await user.click(screen.getByRole('button', { name: 'Actions for Server' }))
  await user.click(screen.getByRole('menuitem', { name: action }))
  expect(within(screen.getByRole('dialog')).getByRole('heading').textContent).toBe(title)
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(screen.queryByRole('dialog')).toBeNull()
})

const remotes = [createRemote(), createRemote({ id: 'rem_2' })]
test.each<[string, PageOptions, string | null, boolean]>([
  ['an owner with one instance', {}, 'Connect another instance', true],
  ['an owner with two other instances', { remotes }, null, true],
  ['a member', { isOwner: false, remotes: [] }, 'One instance', false],
])('the page of %s', (_, options, about, canAdd) => {
  const { text } = renderPage(options)
  expect(screen.queryByRole('heading', { level: 2 })?.textContent ?? null).toBe(about)
  expect(text().includes('Only its owner can connect others.')).toBe(options.isOwner === false)
  expect(text().includes('Add a Homeport on a server')).toBe(about === 'Connect another instance')
  expect(screen.queryByRole('button', { name: 'Add instance' }) !== null).toBe(canAdd)
  expect(text()).not.toContain('Loading')
})

test('an instance is added at an address of its own', async () => {
  const { user } = renderPage()
  await user.click(screen.getByRole('button', { name: 'Add instance' }))
  expect([location.search, screen.getByRole('dialog').getAttribute('data-state')]).toEqual(['?do=add', 'open'])
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect([location.search, screen.queryByRole('dialog')]).toEqual(['', null])
})

test('a member cannot add an instance by an address', () => {
  history.replaceState(null, '', '/app/?do=add')
  renderPage({ isOwner: false })
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('the list loads, and a failure can be tried again', async () => {
  const { text } = renderPart(<InstancesPage />, {
    data: [
      [queryKeys.session, { user: { is_instance_owner: true } }],
      [queryKeys.remoteState('local', true), answers],
    ],
    answers: { listRemotes: problemResponse('forbidden', 'Not for you.') },
  })
  expect(text()).toContain('Loading')
  await waitFor(() => expect(text()).toContain('Not for you. forbidden'))
  expect(text()).toContain('Try again')
  expect(text()).not.toContain('Loading')
})

test.each([
  ['', ''],
  ['?do=add', '?do=add'],
])('the page of another instance leads to that of this machine: “%s”', (search, expected) => {
  useConnection.getState().setRemotes([createRemote()])
  history.replaceState(null, '', `/app/on/rem_1/instances${search}`)
  renderPart(<InstancesPage />)
  expect([location.pathname, location.search]).toEqual(['/app/instances', expected])
})
