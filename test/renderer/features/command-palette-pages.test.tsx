import { fireEvent, screen } from '@testing-library/react'
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
const becomeHosted = () => useConnection.setState({ current: { ...localConnection, id: 'rem_1', origin: 'https://deploy.example.com' } })

beforeEach(() => {
  localStorage.removeItem('homeport.palette.recent')
  history.replaceState(null, '', '/app/projects/shop/logs')
})
afterEach(() => {
  localStorage.removeItem('homeport.palette.recent')
  useUi.setState({ palette_open: false, toasts: [] })
  useConnection.setState({ current: localConnection })
  vi.restoreAllMocks()
  history.replaceState(null, '', '/app/')
})

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
