import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { Introduction } from '../../../renderer/features/terminal/introduction.tsx'
import TerminalPage from '../../../renderer/features/terminal/page.tsx'
import { isOpen, shellBadge, type ShellState } from '../../../renderer/features/terminal/shell-state.ts'
import { RemoteInstanceContext } from '../../../renderer/lib/remote-instance.ts'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { preview } from '../../../server/contract/previews.ts'
import { project } from '../../../server/contract/projects.ts'
import { service } from '../../../server/contract/services.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const production = { slug: 'my-shop', branch: null, service: null }
interface PageState {
  search?: string
  serving?: 'loading' | 'none' | 'live'
  isRemote?: boolean
  isKnown?: boolean
}
function openPage({ search = '', serving = 'live', isRemote = false, isKnown = true }: PageState = {}) {
  history.replaceState(null, '', `/projects/my-shop/terminal${search}`)
  if (isRemote) useConnection.setState({ current: { ...localConnection, id: 'server' } })
  const branch = new URLSearchParams(search).get('branch')
  return renderPart(<TerminalPage slug="my-shop" />, {
    data: [
      [queryKeys.session, isKnown ? createExample(allOperations.getSession.success.json) : undefined],
      [queryKeys.project('my-shop'), createExample(project, { slug: 'my-shop', name: 'My shop' })],
      [queryKeys.serving('my-shop'), { loading: undefined, none: null, live: createExample(deployment) }[serving]],
      [queryKeys.previews('my-shop'), [createExample(preview, { branch: 'docs' })]],
      [
        queryKeys.services('my-shop', branch),
        { services: [createExample(service, { name: 'web', is_main: true }), createExample(service, { name: 'worker', is_main: false })] },
      ],
    ],
  })
}

test.each<[string, PageState, string]>([
  ['a live version', {}, 'It runs in a new replica of the main service, next to the live version'],
  [
    'a service of a preview',
    { search: '?branch=docs&service=worker', serving: 'none' },
    'in a new replica of worker in the preview of docs, next to',
  ],
  ['no live version', { serving: 'none' }, 'No version is live A shell runs next to the live version. Deploy the project, then open it here.'],
  ['a remote instance', { isRemote: true }, 'No terminal on this instance A hosted account does not run one-off commands.'],
])('the terminal of %s', (_, state, expected) => {
  const { text } = openPage(state)
  expect(text()).toContain(expected)
  expect(screen.queryByRole('button', { name: 'Open shell' }) !== null).toBe(expected.includes('replica'))
  expect(screen.queryByLabelText('Environment') !== null).toBe(state.isRemote !== true)
  expect(screen.queryByRole('button', { name: /^(End shell|Open again)$/ })).toBeNull()
  expect(document.title).toContain('Terminal · My shop')
})

test.each<[string, PageState]>([
  ['the live version', { serving: 'loading' }],
  ['the capabilities of a remote instance', { isRemote: true, isKnown: false }],
])('the page is loading until %s is known', (_, state) => expect(openPage(state).text()).toBe('Loading'))

test.each([
  ['Environment', 'docs', '?branch=docs'],
  ['Service', 'worker', '?service=worker'],
])('another %s is chosen', async (label, value, search) => {
  const { user } = openPage()
  await user.selectOptions(screen.getByLabelText(label), value)
  expect(location.search).toBe(search)
})

test('the environment and the service can be chosen again', async () => {
  const { user } = openPage({ search: '?branch=docs&service=worker' })
  await user.selectOptions(screen.getByLabelText('Service'), '')
  expect(location.search).toBe('?branch=docs')
})

test('a shell is opened', async () => {
  const onOpen = vi.fn()
  const { user } = renderPart(<Introduction target={production} canOpen onOpen={onOpen} />)
  await user.click(screen.getByRole('button', { name: 'Open shell' }))
  expect(onOpen).toHaveBeenCalledOnce()
})

const command = 'HOMEPORT_URL=https://shop.example.com npx homeport shell'
test.each<[Partial<typeof production> | { branch?: string; service?: string; slug?: string }, string]>([
  [{}, `${command} my-shop`],
  [{ branch: 'fix/it', service: 'worker' }, `${command} my-shop --service worker --branch fix/it`],
  [{ branch: "it's", service: 'a b' }, `${command} my-shop --service 'a b' --branch 'it'\\''s'`],
])('on another Homeport the shell %j opens on a command line', (own, expected) => {
  useConnection.setState({ current: { ...localConnection, id: 'server' } })
  const remote = { name: 'Server', origin: 'https://shop.example.com', hue: 20 }
  const { text } = renderPart(
    <RemoteInstanceContext value={remote}>
      <Introduction target={{ ...production, ...own }} canOpen onOpen={vi.fn()} />
    </RemoteInstanceContext>,
    { data: [[queryKeys.session, createExample(allOperations.getSession.success.json)]] },
  )
  expect(text()).toBe(
    `Open this shell on a command line Here, shells open only for projects of this machine. For Server, run this command with an API token of that instance in HOMEPORT_TOKEN. ${expected}`,
  )
})

test('a hosted account has no command line either', () => {
  useConnection.setState({ current: { ...localConnection, id: 'hosted' } })
  const { text } = renderPart(
    <RemoteInstanceContext value={{ name: 'Hosted', origin: 'https://hosted.example.com', hue: 20 }}>
      <Introduction target={production} canOpen onOpen={vi.fn()} />
    </RemoteInstanceContext>,
    { data: [[queryKeys.session, null]] },
  )
  expect(text()).toContain('No terminal on this instance')
})

const exit = (code: number | null) => ({ code, signal: null, out_of_memory: false })
test.each<[ShellState, string, string, boolean]>([
  [{ name: 'starting' }, 'Starting', 'busy', true],
  [{ name: 'running' }, 'Connected', 'live', true],
  [{ name: 'closed' }, 'Ended', 'idle', false],
  [{ name: 'exited', exit: exit(0) }, 'Exit code 0', 'idle', false],
  [{ name: 'exited', exit: exit(2) }, 'Exit code 2', 'fail', false],
  [{ name: 'exited', exit: exit(null) }, 'Exit code 1', 'fail', false],
  [{ name: 'failed', error: null, was_running: true }, 'Ended', 'fail', false],
  [{ name: 'failed', error: null, was_running: false }, 'Not started', 'fail', false],
])('a shell that is %j', (state, label, tone, expectedOpen) => {
  expect(shellBadge(state)).toMatchObject({ label, tone })
  expect(isOpen(state)).toBe(expectedOpen)
})
