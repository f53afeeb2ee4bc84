import { screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import TourCard from '../../../renderer/features/tour/tour-card.tsx'
import { TourSlot } from '../../../renderer/features/tour/tour-slot.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useTour } from '../../../renderer/stores/tour.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { project, type Project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createProject = (slug: string, own: Partial<Project> = {}) =>
  createExample(project, { id: slug, slug, name: slug, status: 'live', updated_at: '2026-01-31T09:00:00.000Z', last_request_at: null, ...own })
interface Facts {
  was_visited?: boolean
  ready?: number
  isOwner?: boolean
  lan?: boolean
  isLoading?: boolean
}
function data({ was_visited = false, ready = 1, isOwner = true, lan = false, isLoading = false }: Facts = {}): [readonly unknown[], unknown][] {
  const session = createExample(allOperations.getSession.success.json)
  const deployments = Array.from({ length: ready }, (_, index) => createExample(deployment, { id: `dpl_${index}` }))
  return [
    [
      queryKeys.session,
      {
        ...session,
        user: { ...session.user, is_instance_owner: isOwner },
        instance: { ...session.instance, apps_url: null, edge_url: 'http://127.0.0.1:4601', edge_https_url: null },
      },
    ],
    ...['a', 'b'].flatMap((slug): [readonly unknown[], unknown][] => [
      [queryKeys.project(slug), createProject(slug, { last_request_at: was_visited ? '2026-01-31T09:00:00.000Z' : null })],
      [queryKeys.deployments(slug, { status: 'ready' }), { pages: [{ deployments, next_cursor: null }], pageParams: [null] }],
      [queryKeys.envVars(slug), isLoading ? undefined : []],
      [queryKeys.previews(slug), []],
    ]),
    [queryKeys.settings, { ...createExample(allOperations.getSettings.success.json).settings, lan }],
  ]
}
const openCard = (facts: Facts = {}) => renderPart(<TourCard slug="a" />, { data: data(facts) })
const openSlot = (projects: Project[] | null, next_cursor: string | null = null) =>
  renderPart(<TourSlot />, {
    data: [...data(), [queryKeys.projects, projects ? { pages: [{ projects, next_cursor }], pageParams: [null] } : undefined]],
  })
const states = () => screen.getAllByRole('img').map((icon) => icon.getAttribute('aria-label'))

afterEach(() => {
  useTour.setState({ visibility: 'automatic', done: [], should_scroll_into_view: false })
  useUi.setState({ palette_open: false })
})

test('the first steps with their links', () => {
  const { text } = openCard()
  expect(text()).toMatch(/^First steps 0 of 6 \[Close first steps\] \[To do\] Open your app Your app is live at this URL\./)
  expect(text()).toMatch(/Steps complete automatically\. Learn more in Help$/)
  expect(screen.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual([
    'http://a.localhost:4601',
    '/projects/a',
    '/projects/a/environment?do=add',
    '/projects/a/database',
    '/instance/network?at=lan',
    '/help',
  ])
})

test.each<[string, Facts, number, number]>([
  ['nothing', {}, 0, 6],
  ['a visit, a second deployment and the network', { was_visited: true, ready: 2, lan: true }, 3, 6],
  ['nothing, by a user who is not the owner', { isOwner: false }, 0, 5],
])('the steps that are done after %s', (_, facts, done, total) => {
  openCard(facts)
  expect(screen.getByText(`${done} of ${total}`)).toBeTruthy()
  expect(states().filter((state) => state === 'Done')).toHaveLength(done)
  expect(states()).toHaveLength(total)
  expect(useTour.getState().done).toHaveLength(done)
})

test('steps that were done before stay done, and the list can be closed at its end', async () => {
  useTour.setState({ done: ['open', 'redeploy', 'variable', 'palette', 'database', 'phone'] })
  const { text, user } = openCard()
  expect(text()).toMatch(/^First steps 6 of 6 .* All done\. Close$/)
  await user.click(screen.getByRole('button', { name: 'Close' }))
  expect(useTour.getState().visibility).toBe('closed')
})

test('the list is closed at any time, and the palette is opened', async () => {
  const { user } = openCard()
  await user.click(screen.getByRole('button', { name: 'Run any command' }))
  expect(useUi.getState().palette_open).toBe(true)
  expect(useTour.getState().done).toEqual(['palette'])
  await user.click(screen.getByRole('button', { name: 'Close first steps' }))
  expect(useTour.getState().visibility).toBe('closed')
})

test('the list is hidden until all facts are known', () => expect(openCard({ isLoading: true }).text()).toBe(''))

test.each([true, false])('a list that was opened from the menu (%s) is scrolled into view once', (should_scroll_into_view) => {
  const scroll = vi.spyOn(Element.prototype, 'scrollIntoView').mockReturnValue()
  useTour.setState({ should_scroll_into_view })
  openCard()
  expect(scroll).toHaveBeenCalledTimes(should_scroll_into_view ? 1 : 0)
  expect(useTour.getState().should_scroll_into_view).toBe(false)
  scroll.mockRestore()
})

const several = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    index === 0 ? createProject('a', { updated_at: '2026-02-01T09:00:00.000Z' }) : createProject(`other-${index}`),
  )
test.each<[string, Project[] | null, string | null, boolean]>([
  ['a live project', [createProject('a')], null, true],
  ['six projects', several(6), null, true],
  ['seven projects', several(7), null, false],
  ['more projects to load', [createProject('a')], 'next', false],
  ['no live project', [createProject('a', { status: 'failed' })], null, false],
  ['no project', [], null, false],
  ['projects that are loading', null, null, false],
])('whether the first steps are shown with %s', async (_, projects, cursor, isShown) => {
  openSlot(projects, cursor)
  if (isShown) expect(await screen.findByText('First steps')).toBeTruthy()
  else expect(document.querySelector('main')?.textContent).toBe('')
})

test.each<[string, () => void, Project[], boolean]>([
  ['were closed', () => useTour.setState({ visibility: 'closed' }), [createProject('a')], false],
  ['were opened again', () => useTour.setState({ visibility: 'reopened' }), [createProject('a', { status: 'failed' })], true],
  ['were opened again, without a project', () => useTour.setState({ visibility: 'reopened' }), [], false],
  ['belong to another instance', () => useConnection.setState({ current: { ...localConnection, id: 'server' } }), [createProject('a')], false],
])('first steps that %s', async (_, arrange, projects, isShown) => {
  arrange()
  openSlot(projects)
  if (isShown) expect(await screen.findByText('First steps')).toBeTruthy()
  else expect(document.querySelector('main')?.textContent).toBe('')
})

test.each<[string, Project[], string]>([
  ['the newest', [createProject('a'), createProject('b', { updated_at: '2026-02-01T09:00:00.000Z' })], 'b'],
  ['a live one', [createProject('b', { status: 'failed', updated_at: '2026-02-01T09:00:00.000Z' }), createProject('a')], 'a'],
])('the first steps are those of %s', async (_, projects, slug) => {
  openSlot(projects)
  expect((await screen.findByRole('link', { name: 'Deploy a change' })).getAttribute('href')).toBe(`/projects/${slug}`)
})
