import { fireEvent, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Router } from 'wouter'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import CommandPalette from '../../../renderer/features/command-palette/command-palette.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations, user } from '../../../server/contract/instance.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

const sessionSchema = instanceOperations.getSession.success.json
const createSession = (is_instance_owner: boolean) =>
  createExample(sessionSchema, {
    user: createExample(user, { is_instance_owner }),
    instance: {
      ...createExample(sessionSchema).instance,
      edge_url: 'http://127.0.0.1:4780',
      edge_https_url: 'https://127.0.0.1:4743',
      apps_url: null,
    },
  })
const createProject = (own: Partial<Project> = {}) =>
  createExample(project, { id: 'prj_1', slug: 'shop', name: 'Shop', is_connected: false, caching_enabled: true, always_warm: false, ...own })
const createDeployment = (own: Partial<Deployment> = {}) => createExample(deployment, { id: 'dpl_1', status: 'ready', source: 'git', ...own })
interface PaletteOptions {
  own?: Partial<Project>
  serving?: Deployment | null
  is_owner?: boolean
  data?: PartOptions['data']
  answers?: PartOptions['answers']
}
const search = (value: string) => fireEvent.change(screen.getByPlaceholderText('Search projects and commands'), { target: { value } })
function renderPalette({ own = {}, serving = null, is_owner = false, data = [], answers = {} }: PaletteOptions = {}, query = 'shop') {
  const palette = (
    <Router base="/app">
      <CommandPalette />
    </Router>
  )
  const part = renderPart(palette, {
    data: [
      [queryKeys.session, createSession(is_owner)],
      [queryKeys.projects, { pages: [{ projects: [], next_cursor: null }], pageParams: [null] }],
      [queryKeys.project('shop'), createProject(own)],
      [queryKeys.serving('shop'), serving],
      [queryKeys.latest('shop'), null],
      ...data,
    ],
    answers,
  })
  if (query !== '') search(query)
  return part
}
const items = (name = 'Shop') => [...screen.getByRole('group', { name }).querySelectorAll('[role=option]')]
const names = () => items().map((one) => one.childNodes[1]?.textContent ?? '')
/** By its text, because the name of each of many options takes long to compute. */
const choose = (name: string) => fireEvent.click(screen.getByText(name, { selector: '[role=option], [role=option] *' }))
const address = () => `${location.pathname}${location.search}`
const toasts = () => useUi.getState().toasts.map(({ text }) => text)
const started = { deployment_id: 'dpl_9', status: 'queued', deployment: createDeployment({ id: 'dpl_9', status: 'queued' }) } as const

beforeEach(() => {
  localStorage.removeItem('homeport.palette.recent')
  history.replaceState(null, '', '/app/projects/shop/logs')
})
afterEach(() => {
  localStorage.removeItem('homeport.palette.recent')
  useUi.setState({ palette_open: false, toasts: [] })
  vi.restoreAllMocks()
})

test('at first a project has its main commands', async () => {
  renderPalette({ serving: createDeployment() }, '')
  expect(names()).toEqual(['Redeploy', 'Open in browser', 'Deployments', 'Logs', 'Environment: variables', 'Roll back…', 'Restart'])
})

test('a project that loads has no commands', () => {
  renderPart(
    <Router base="/app">
      <CommandPalette />
    </Router>,
  )
  expect(screen.getAllByRole('group')).toEqual([screen.getByRole('group', { name: 'Homeport' })])
})

test.each<[string, PaletteOptions, string, object]>([
  [
    'the repository is deployed',
    { own: { is_connected: true }, answers: { deployProject: started } },
    'Deploy',
    { operation: 'deployProject', params: { slug: 'shop' } },
  ],
  [
    'the last version is deployed again',
    { data: [[queryKeys.latest('shop'), createDeployment({ id: 'dpl_2' })]], answers: { retryDeployment: started } },
    'Redeploy',
    { operation: 'retryDeployment', params: { slug: 'shop', id: 'dpl_2' } },
  ],
  [
    'the current version is restarted',
    { serving: createDeployment(), answers: { rollbackDeployment: started } },
    'Restart',
    { operation: 'rollbackDeployment', params: { slug: 'shop', id: 'dpl_1' } },
  ],
])('%s, and its deployment opens', async (_, options, name, expected) => {
  const { sent } = renderPalette(options)
  choose(name)
  await waitFor(() => expect(address()).toBe('/app/projects/shop/deployments/dpl_9'))
  expect(sent).toEqual([expected])
})

test.each<[string, Partial<Project>, object]>([
  ['Edge cache: turn off', { caching_enabled: true }, { caching_enabled: false }],
  ['Edge cache: turn on', { caching_enabled: false }, { caching_enabled: true }],
  ['Always warm: turn off', { always_warm: true }, { always_warm: false }],
  ['Always warm: turn on', { always_warm: false }, { always_warm: true }],
])('%s', async (name, own, body) => {
  const { sent } = renderPalette({ own, answers: { updateProject: { project: createProject() } } })
  choose(name)
  await waitFor(() => expect(toasts()).toEqual(['Saved.']))
  expect(sent).toEqual([{ operation: 'updateProject', params: { slug: 'shop' }, body }])
})

test('the repository is checked', async () => {
  const { sent } = renderPalette({ own: { is_connected: true } })
  choose('Previews: check the repository now')
  await waitFor(() => expect(sent).toEqual([{ operation: 'checkRepository', params: { slug: 'shop' } }]))
})

test.each<[string, string, string]>([
  ['Open in browser', 'untrusted', 'http://shop.localhost:4780/'],
  ['Open over HTTPS', 'trusted', 'https://shop.localhost:4743/'],
])('%s', async (name, status, expected) => {
  const open = vi.spyOn(window, 'open').mockReturnValue(null)
  renderPalette({ is_owner: true, serving: createDeployment(), data: [[queryKeys.https, { trust: [{ status }] }]] })
  expect(names().includes('Open over HTTPS')).toBe(status === 'trusted')
  choose(name)
  expect(open.mock.calls).toEqual([[expected, '_blank', 'noopener']])
})

test('a project that does not run cannot be opened', async () => {
  renderPalette({ is_owner: true, data: [[queryKeys.https, { trust: [{ status: 'trusted' }] }]] })
  expect(names().filter((name) => name.startsWith('Open'))).toEqual([])
})

const listed = [
  createDeployment({ number: 41, commit_message: 'Add the cart', commit_sha: 'abcdef0' }),
  createDeployment({ id: 'dpl_2', number: undefined, commit_message: 'Fix the cart', commit_sha: null, status: 'failed' }),
]
const deployments = (list: Deployment[]): PartOptions['data'] => [
  [queryKeys.deployments('shop', {}), { pages: [{ deployments: list, next_cursor: null }], pageParams: [null] }],
]
test.each([
  ['the number', '#41', ['Add the cart#41']],
  ['the title', 'CART', ['Add the cart#41', 'Fix the cart']],
  ['the commit', 'abcdef', ['Add the cart#41']],
])('deployments are found by %s', async (_, query, expected) => {
  renderPalette({ data: deployments(listed) }, query)
  expect(items('Deployments').map(({ textContent }) => textContent)).toEqual(expected)
})

test('a deployment opens', async () => {
  renderPalette({ data: deployments(listed) }, 'fix the')
  choose('Fix the cart')
  expect(address()).toBe('/app/projects/shop/deployments/dpl_2')
})

test('at most four deployments are found, and none before a query', async () => {
  renderPalette({ data: deployments(Array.from({ length: 5 }, (_, index) => createDeployment({ id: `dpl_${index}`, number: index }))) }, '')
  expect(screen.queryByRole('group', { name: 'Deployments' })).toBeNull()
  search('prices')
  expect(items('Deployments')).toHaveLength(4)
})

test('outside of a project there are none of its commands', async () => {
  history.replaceState(null, '', '/app/domains')
  renderPalette({ data: deployments(listed) }, 'cart')
  expect(screen.queryByRole('group')).toBeNull()
})
const becomeHosted = () => useConnection.setState({ current: { ...localConnection, id: 'rem_1', origin: 'https://deploy.example.com' } })

const everywhere = {
  'Deploy: upload a .zip or .tar.gz…': '?do=upload',
  Overview: '',
  Deployments: '/deployments',
  'Previews: branches': '/previews',
  'Previews: automatic deployments': '/previews?at=watching',
  Logs: '/logs',
  Metrics: '/metrics',
  'Metrics: last 7 days': '/metrics?range=7d',
  'Metrics: last 30 days': '/metrics?range=30d',
  'Cache: status and inspector': '/cache',
  'Cache: purge everything…': '/cache?purge=all',
  'Cache: purge webhook and token…': '/cache?at=webhook',
  'Environment: variables': '/environment',
  'Environment: add variable…': '/environment?do=add',
  'Environment: import a .env file…': '/environment?do=import',
  'Database: connection and dumps': '/database',
  'Database: drop…': '/database?do=drop',
  'Activity of this project': '/activity',
  'Domains of this project': '/domains',
  'Domains: add your own domain…': '/domains?do=add',
  'Domains: buy a domain…': '/domains?do=buy',
  Settings: '/settings',
  'Delete…': '?do=delete',
}
const ofInstance = {
  Requests: '/logs/requests',
  Traces: '/logs/traces',
  'Cache: purge by tag or URL…': '/cache?at=purge',
  'Notifications: email, webhooks, Slack': '/notifications',
  'Log drains: HTTP, syslog, files': '/log-drains',
  'Database: dump, restore or import SQL…': '/database?at=dumps',
  'Database: tables and rows': '/database/tables',
  'Database: SQL console': '/database/sql',
  'Volumes: files and snapshots': '/volumes',
  'Volumes: keep a path…': '/volumes?do=add',
}
const ofHosted = { 'Pull to this machine…': '?do=pull', 'Cache: purge by tag…': '/cache?at=purge' }
const whileServing = { 'Roll back…': '?do=rollback', 'Stop…': '?do=stop' }
const ofOwner = { 'Promote to another instance…': '?do=promote' }
const ofTerminal = { 'Terminal: open a shell': '/terminal' }
const changes = ['Edge cache: turn off', 'Always warm: turn on']

test.each<[string, PaletteOptions, boolean, Record<string, string>, string[]]>([
  ['a member', {}, false, { ...everywhere, ...ofInstance }, changes],
  ['the owner', { is_owner: true }, false, { ...everywhere, ...ofInstance, ...ofOwner }, changes],
  [
    'a member, while it runs',
    { serving: createDeployment() },
    false,
    { ...everywhere, ...ofInstance, ...whileServing, ...ofTerminal },
    [...changes, 'Redeploy', 'Open in browser', 'Restart'],
  ],
  [
    'a member, with a repository',
    { own: { is_connected: true } },
    false,
    { ...everywhere, ...ofInstance },
    [...changes, 'Deploy', 'Previews: check the repository now'],
  ],
  ['a hosted account', { data: [[queryKeys.session, null]] }, true, { ...everywhere, ...ofHosted }, changes],
  [
    'a hosted account, with a repository, while it runs',
    { own: { is_connected: true }, serving: createDeployment({ url: 'https://shop.example.com' }), data: [[queryKeys.session, null]] },
    true,
    { ...everywhere, ...ofHosted, ...whileServing },
    [...changes, 'Deploy', 'Open in browser', 'Restart'],
  ],
])('the pages of a project for %s', async (_, options, isHosted, pages, others) => {
  if (isHosted) becomeHosted()
  renderPalette(options)
  expect(names().toSorted()).toEqual([...Object.keys(pages), ...others].toSorted())
})

test.each<[string, PaletteOptions, boolean, Record<string, string>]>([
  [
    'an instance',
    { is_owner: true, serving: createDeployment() },
    false,
    { ...everywhere, ...ofInstance, ...whileServing, ...ofOwner, ...ofTerminal },
  ],
  ['a hosted account', { data: [[queryKeys.session, null]] }, true, { ...everywhere, ...ofHosted }],
])('the pages of a project open on %s', (_, options, isHosted, pages) => {
  if (isHosted) becomeHosted()
  renderPalette(options)
  const opened = Object.keys(pages).map((name) => {
    choose(name)
    return [name, address().replace('/app/projects/shop', '')]
  })
  expect(opened).toEqual(Object.entries(pages))
})
