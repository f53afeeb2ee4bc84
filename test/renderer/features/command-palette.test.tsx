import { fireEvent, screen, within, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Router } from 'wouter'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import CommandPalette from '../../../renderer/features/command-palette/command-palette.tsx'
import { readRecentCommands, rememberCommand } from '../../../renderer/features/command-palette/recent-commands.ts'
import { useKeyboard } from '../../../renderer/stores/keyboard.ts'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { applyTheme, useUi } from '../../../renderer/stores/ui.ts'
import { instanceOperations, user } from '../../../server/contract/instance.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'
import { deployment } from '../../../server/contract/deployments.ts'

const recentKey = 'homeport.palette.recent'
const createSession = (is_instance_owner: boolean) =>
  createExample(instanceOperations.getSession.success.json, { user: createExample(user, { is_instance_owner }) })
const pageOf = (projects: Project[]) => ({ pages: [{ projects, next_cursor: null }], pageParams: [null] })
interface PaletteOptions {
  is_owner?: boolean
  projects?: Project[]
  data?: PartOptions['data']
}
function renderPalette({ is_owner = false, projects = [], data = [] }: PaletteOptions = {}) {
  const known: PartOptions['data'] = [
    [queryKeys.session, createSession(is_owner)],
    [queryKeys.projects, pageOf(projects)],
  ]
  const palette = (
    <Router base="/app">
      <CommandPalette />
    </Router>
  )
  return renderPart(palette, { data: [...known, ...data] })
}
const input = () => screen.getByPlaceholderText('Search projects and commands')
const options = () => screen.queryAllByRole('option').map((one) => one.textContent)
const choose = (name: string | RegExp) => screen.getByRole('option', { name })
const group = (name: string) =>
  within(screen.getByRole('group', { name }))
    .getAllByRole('option')
    .map((one) => one.textContent)
const address = () => `${location.pathname}${location.search}`

beforeEach(() => {
  localStorage.removeItem(recentKey)
  history.replaceState(null, '', '/app/')
  useUi.setState({ palette_open: true })
})
afterEach(() => {
  localStorage.removeItem(recentKey)
  localStorage.removeItem('homeport.theme')
  applyTheme('system')
  useUi.setState({ palette_open: false, new_project_open: false, toasts: [], theme: 'system' })
  useKeyboard.setState({ is_shortcuts_open: false })
})

test('at first the palette has the main commands', () => {
  renderPalette()
  expect(group('Homeport')).toEqual(['New projectn', 'All projectsgp', 'Help: all topicsgh'])
})

test('recent commands come first', () => {
  rememberCommand('Theme: dark')
  rememberCommand('All projects')
  renderPalette()
  expect(group('Homeport')).toEqual(['All projectsgp', 'Theme: dark', 'New projectn', 'Help: all topicsgh'])
})

test('a query without results says so', async () => {
  const { user, text } = renderPalette()
  await user.type(input(), 'zzzz')
  expect(text()).toContain('No results for “zzzz”.')
  expect(options()).toEqual([])
})

test('every word of a query must match, also a synonym', async () => {
  const { user } = renderPalette()
  await user.type(input(), 'CREATE proj')
  expect(group('Homeport')).toEqual(['New projectn'])
  await user.type(input(), ' zzzz')
  expect(options()).toEqual([])
})

const memberPages = {
  'All projects': '/app/',
  'Account: plan and card': '/app/account?at=plan',
  'All domains': '/app/domains',
  'Account: API tokens': '/app/account?at=tokens',
  'Account: create API token…': '/app/account?do=token',
}
const instancePages = {
  'Search all logs': '/app/logs',
  'All activity': '/app/activity',
  'Instance: health, load and runtime': '/app/instance',
  'Instance: settings and people': '/app/instance/settings',
}
const ownerPages = {
  'All instances': '/app/instances',
  'Add instance…': '/app/instances?do=add',
  'Network: open to phones and other devices…': '/app/instance/network',
  'Network: set owner password…': '/app/instance/network?at=lan',
  'Network: trust HTTPS on this machine…': '/app/instance/network?at=https',
  'Network: redirect HTTP to HTTPS…': '/app/instance/network?at=https',
  'Network: hosts file…': '/app/instance/network?at=hosts-file',
  'Disk: usage': '/app/instance/disk',
  'Disk: clean up…': '/app/instance/disk?do=clean',
  'Backups: create or download': '/app/instance/backups',
  'Backups: restore…': '/app/instance/backups?at=restore',
  'Backups: all database dumps': '/app/instance/backups?at=every-dump',
}
const helpPages = { 'Help: all topics': '/app/help' }
const others = ['Keyboard shortcuts', 'Theme: light', 'Theme: dark', 'Theme: system']

test.each<[string, boolean, boolean, Record<string, string>]>([
  ['a member', false, false, { ...memberPages, ...instancePages, ...helpPages }],
  ['the owner', true, false, { ...memberPages, ...instancePages, ...ownerPages, ...helpPages }],
  ['a hosted account', false, true, { ...memberPages, ...helpPages }],
])('the pages of %s open', async (_, is_owner, isHosted, pages) => {
  if (isHosted) useConnection.setState({ current: { ...localConnection, id: 'rem_1' }, connections: [] })
  renderPalette({ is_owner, ...(isHosted && { data: [[queryKeys.session, null]] }) })
  fireEvent.change(input(), { target: { value: 'homeport' } })
  const names = within(screen.getByRole('group', { name: 'Homeport' }))
    .getAllByRole('option')
    .map((one) => one.childNodes[1]?.textContent)
  expect(names).toEqual(['New project', ...Object.keys(pages), ...others])
  const opened = Object.keys(pages).map((name) => {
    fireEvent.click(screen.getByText(name, { selector: '[role=option]' }))
    return [name, address()]
  })
  expect(opened).toEqual(Object.entries(pages))
})

test('a command closes the palette and is remembered', async () => {
  const { user } = renderPalette()
  await user.click(choose('New project'))
  expect(useUi.getState()).toMatchObject({ palette_open: false, new_project_open: true })
  expect(readRecentCommands()).toEqual(['New project'])
})

test('themes and shortcuts are commands', async () => {
  const { user } = renderPalette()
  await user.type(input(), 'homeport')
  for (const theme of ['light', 'dark', 'system']) {
    await user.click(choose(`Theme: ${theme}`))
    expect(useUi.getState().theme).toBe(theme)
  }
  await user.click(choose('Keyboard shortcuts'))
  expect(useKeyboard.getState().is_shortcuts_open).toBe(true)
})

test('another instance can be opened, the current one not', async () => {
  const remote = { ...localConnection, id: 'rem_1', name: 'Harbour', origin: 'https://deploy.example.com' }
  useConnection.setState({ connections: [localConnection, remote] })
  const { user } = renderPalette()
  await user.type(input(), 'switch')
  expect(group('Homeport')).toEqual([expect.stringMatching(/Switch to Harbour, deploy.example.com$/)])
  await user.click(choose(/Switch to Harbour/))
  expect(location.pathname).toBe('/app/on/rem_1/')
})
const createProject = (slug: string, own: Partial<Project> = {}) =>
  createExample(project, {
    id: `prj_${slug}`,
    slug,
    name: slug.toUpperCase(),
    repo_url: null,
    status: 'live',
    is_cold: false,
    is_connected: false,
    ...own,
  })

test('recent projects come first, five at most', () => {
  rememberCommand('project/gone')
  rememberCommand('project/f')
  rememberCommand('project/c')
  renderPalette({ projects: ['a', 'b', 'c', 'd', 'e', 'f'].map((slug) => createProject(slug)) })
  expect(group('Projects')).toEqual(['CLive', 'FLive', 'ALive', 'BLive', 'DLive'])
})

test('a project is found by its name, and opens', async () => {
  const { user } = renderPalette({ projects: [createProject('shop'), createProject('blog', { status: 'live', is_cold: true })] })
  await user.type(input(), 'blog')
  expect(group('Projects')).toEqual(['BLOGLive, asleep'])
  await user.click(choose(/^BLOG/))
  expect(address()).toBe('/app/projects/blog')
  expect(readRecentCommands()).toEqual(['project/blog'])
})

test('at most 30 projects are shown', async () => {
  const { user } = renderPalette({ projects: Array.from({ length: 31 }, (_, index) => createProject(`shop-${index}`)) })
  await user.type(input(), 'shop')
  expect(group('Projects')).toHaveLength(30)
})

test('pages of the first four projects are found', async () => {
  const { user } = renderPalette({ projects: ['s1', 's2', 's3', 's4', 's5'].map((slug) => createProject(slug)) })
  await user.type(input(), 's logs')
  expect(group('In projects')).toEqual(['S1Logs', 'S2Logs', 'S3Logs', 'S4Logs'])
  await user.click(choose('S2 Logs'))
  expect(address()).toBe('/app/projects/s2/logs')
  expect(readRecentCommands()).toEqual(['project/s2'])
})

test.each([
  ['is deployed again', createExample(deployment, { id: 'dpl_1' }), ['SHOPRedeploy']],
  ['without a version is not', null, []],
])('a project %s', async (_, serving, expected) => {
  const { user, sent } = renderPalette({
    projects: [createProject('shop')],
    data: [
      [queryKeys.serving('shop'), serving],
      [queryKeys.latest('shop'), null],
    ],
  })
  await user.type(input(), 'shop again')
  expect(options()).toEqual(expected)
  for (const redeploy of screen.queryAllByRole('option', { name: 'SHOP Redeploy' })) await user.click(redeploy)
  expect(sent).toEqual(serving ? [{ operation: 'retryDeployment', params: { slug: 'shop', id: 'dpl_1' } }] : [])
})

test('help topics are found, five at most', async () => {
  const { user } = renderPalette()
  await user.type(input(), 'database')
  expect(group('Help').length).toBeGreaterThan(0)
  await user.clear(input())
  await user.type(input(), 'a')
  expect(group('Help')).toHaveLength(5)
  const [first] = within(screen.getByRole('group', { name: 'Help' })).getAllByRole('option')
  if (first) await user.click(first)
  expect(address()).toMatch(/^\/app\/help\/[a-z-]+$/)
})

test('the last six commands are remembered, each once', () => {
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'c']) rememberCommand(name)
  expect(readRecentCommands()).toEqual(['c', 'g', 'f', 'e', 'd', 'b'])
})

test.each([
  ['{', []],
  ['{}', []],
  ['["a", 1, "b"]', ['a', 'b']],
  ['["1","2","3","4","5","6","7"]', ['1', '2', '3', '4', '5', '6']],
])('recent commands are read from %s', (text, expected) => {
  localStorage.setItem(recentKey, text)
  expect(readRecentCommands()).toEqual(expected)
})

test('Escape closes the palette', async () => {
  const { user } = renderPalette()
  await user.keyboard('{Escape}')
  await waitFor(() => expect(useUi.getState().palette_open).toBe(false))
})
