import { fireEvent, screen, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Router } from 'wouter'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import CommandPalette from '../../../renderer/features/command-palette/command-palette.tsx'
import { readRecentCommands, rememberCommand } from '../../../renderer/features/command-palette/recent-commands.ts'
import { useKeyboard } from '../../../renderer/stores/keyboard.ts'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { applyTheme, useUi } from '../../../renderer/stores/ui.ts'
import { instanceOperations, user } from '../../../server/contract/instance.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

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
  useConnection.setState({ current: localConnection, connections: [localConnection] })
  history.replaceState(null, '', '/app/')
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
