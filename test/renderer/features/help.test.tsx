import { screen, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Route } from 'wouter'
import { Article } from '../../../renderer/features/help/article.tsx'
import HelpPage from '../../../renderer/features/help/page.tsx'
import HelpTopicPage from '../../../renderer/features/help/topic-page.tsx'
import { useKeyboard } from '../../../renderer/stores/keyboard.ts'
import { useTour } from '../../../renderer/stores/tour.ts'
import type { HelpBlock } from '../../../server/help/topic.ts'
import { searchTopics, topicSections } from '../../../server/help/topics.ts'
import { renderPart } from '../../support/dashboard.tsx'

const open = (path: string) => history.replaceState(null, '', path)
const renderTopic = (id: string) => {
  open(`/help/${id}`)
  return renderPart(
    <Route path="/help/:topic">
      <HelpTopicPage />
    </Route>,
  )
}
const topicLinks = () =>
  screen
    .getAllByRole('link')
    .map((link) => link.getAttribute('href'))
    .filter((href) => href?.startsWith('/help/'))

beforeEach(() => open('/help'))
afterEach(() => {
  open('/app/')
  useKeyboard.setState({ is_shortcuts_open: false })
  useTour.setState({ visibility: 'automatic', should_scroll_into_view: false })
  vi.restoreAllMocks()
})

test('all topics are listed by section', () => {
  renderPart(<HelpPage />)
  expect(screen.getAllByRole('region').map((section) => section.getAttribute('aria-label'))).toEqual(topicSections.map(({ heading }) => heading))
  expect(topicLinks()).toEqual(topicSections.flatMap(({ topics }) => topics.map(({ id }) => `/help/${id}`)))
})

test.each([
  ['ENOSPC', searchTopics('ENOSPC').length],
  [' domain ', searchTopics('domain').length],
])('a search for “%s” lists what was found', async (query, count) => {
  const { user, text } = renderPart(<HelpPage />)
  await user.type(screen.getByLabelText('Search help'), query)
  const topics = count === 1 ? '1 topic' : `${count} topics`
  expect(text()).toContain(`[Results] ${topics} for “${query.trim()}” ${topics}`)
  expect(topicLinks()).toEqual(searchTopics(query).map(({ id }) => `/help/${id}`))
  expect(new URLSearchParams(location.search).get('q')).toBe(query)
})

test('a search that is cleared has no address of its own', async () => {
  open('/help?q=domain')
  const { user } = renderPart(<HelpPage />)
  await user.clear(screen.getByLabelText('Search help'))
  expect(location.search).toBe('')
  expect(screen.queryByRole('region', { name: 'Results' })).toBeNull()
})

test('a search for spaces lists everything', () => {
  open('/help?q=%20')
  renderPart(<HelpPage />)
  expect(topicLinks()).toHaveLength(topicSections.flatMap(({ topics }) => topics).length)
})

test('a search for one topic opens it with Enter', async () => {
  open('/help?q=ENOSPC')
  const { user } = renderPart(<HelpPage />)
  await user.type(screen.getByLabelText('Search help'), '{enter}')
  expect(location.pathname).toBe(`/help/${searchTopics('ENOSPC')[0]?.id}`)
})

test('a search without results offers all topics', async () => {
  open('/help?q=zeppelin')
  const { user, text } = renderPart(<HelpPage />)
  expect(text()).toContain('No matching topics Try fewer words, or run npx homeport doctor to check everything. Show all topics')
  await user.type(screen.getByLabelText('Search help'), '{enter}')
  expect(location.pathname).toBe('/help')
  await user.click(screen.getByRole('button', { name: 'Show all topics' }))
  expect([location.search, screen.getAllByRole('region').length]).toEqual(['', topicSections.length])
})

test('the list of shortcuts opens', async () => {
  const { user } = renderPart(<HelpPage />)
  await user.click(screen.getByRole('button', { name: 'Keyboard' }))
  expect(useKeyboard.getState().is_shortcuts_open).toBe(true)
})

test('the first steps open on the first page', async () => {
  const { user } = renderPart(<HelpPage />)
  await user.click(screen.getByRole('button', { name: 'First steps' }))
  expect([location.pathname, useTour.getState().visibility]).toEqual(['/app/', 'reopened'])
})

test('a topic is shown beside the others of its section', () => {
  const scroll = vi.spyOn(window, 'scrollTo').mockReturnValue()
  renderTopic('environment')
  const section = topicSections.find(({ topics }) => topics.some(({ id }) => id === 'environment'))
  const topic = section?.topics.find(({ id }) => id === 'environment')
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe(topic?.title)
  const beside = within(screen.getByRole('navigation', { name: section?.heading ?? '' }))
  expect(beside.getAllByRole('link').map(({ textContent }) => textContent)).toEqual(section?.topics.map(({ title }) => title))
  expect(beside.getAllByRole('link', { current: 'page' }).map(({ textContent }) => textContent)).toEqual([topic?.title])
  expect(document.title).toBe(`${topic?.title} · Help · Homeport`)
  expect(scroll.mock.calls).toEqual([[{ top: 0 }]])
})

test.each([
  ['keyboard', true],
  ['environment', false],
])('the topic %s has the list of shortcuts: %s', (id, expected) => {
  renderTopic(id)
  expect(screen.queryByLabelText('Single-key shortcuts') !== null).toBe(expected)
})

test('an unknown topic is not found', () => {
  renderTopic('nothing')
  expect(screen.queryByRole('article')).toBeNull()
  expect(screen.getByRole('heading').textContent).toBe('Page not found')
  expect(document.title).toBe('Not found · Homeport')
})

test.each<[string, HelpBlock, string]>([
  [
    'a paragraph',
    'Use `npm` and **wait**, see [[environment]], [[/domains|your domains]] or [[/domains]] [[nowhere]].',
    '<p>Use <code>npm</code> and <strong>wait</strong>, see <a href="/help/environment">Variables</a>, <a href="/domains">your domains</a> or <a href="/domains">/domains</a> <a href="/help/nowhere">nowhere</a>.</p>',
  ],
  ['a heading', { h: 'How `it` works' }, '<h2>How `it` works</h2>'],
  ['a list', { list: ['One `a`', 'Two'] }, '<ul><li>One <code>a</code></li><li>Two</li></ul>'],
  ['steps', { steps: ['One', 'Two'] }, '<ol><li>One</li><li>Two</li></ol>'],
])('an article with %s', (_, block, expected) => {
  renderPart(<Article blocks={[block]} />)
  expect(document.querySelector('main > div')?.innerHTML).toBe(expected)
})

test.each<[string, HelpBlock, string]>([
  ['a command', { run: 'npx homeport doctor' }, 'npx homeport doctor [Copy: npx homeport doctor]'],
  ['a command with a note', { run: 'npx homeport doctor', note: 'Checks all.' }, 'npx homeport doctor [Copy: npx homeport doctor] Checks all.'],
  ['a file', { file: 'Dockerfile', text: 'FROM node' }, 'Dockerfile [Copy: Dockerfile] FROM node'],
])('an article with %s', (_, block, expected) => expect(renderPart(<Article blocks={[block]} />).text()).toBe(expected))
