import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Router } from 'wouter'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import CommandPalette from '../../../renderer/features/command-palette/command-palette.tsx'
import { readRecentCommands, rememberCommand } from '../../../renderer/features/command-palette/recent-commands.ts'
import { useKeyboard } from '../../../renderer/stores/keyboard.ts'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { applyTheme, useUi } from '../../../renderer/stores/ui.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations, user } from '../../../server/contract/instance.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

const recentKey = 'homeport.palette.recent'
const createSession = (is_instance_owner: boolean) =>
  createExample(instanceOperations.getSession.success.json, { user: createExample(user, { is_instance_owner }) })
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
