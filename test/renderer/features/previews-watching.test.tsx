import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { WatchingCard } from '../../../renderer/features/previews/watching-card.tsx'
import { type Watching, watching } from '../../../server/contract/previews.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const shop = createExample(project, { repo_url: 'https://git.example.com/shop.git' })
const createWatching = (own: Partial<Watching> = {}) =>
  createExample(watching, {
    deploys_pushes: true,
    previews: true,
    preview_databases: false,
    pull_requests: false,
    pull_request_secrets: false,
    message: null,
    skipped: [],
    state: 'watching',
    ...own,
  })
const showWatching = (own: Partial<Watching> = {}) => renderPart(<WatchingCard project={shop} watching={createWatching(own)} />)
const readSwitches = () =>
  screen
    .getAllByRole('switch')
    .map((one) => `${one.id && document.querySelector(`label[for="${one.id}"]`)?.textContent}: ${one.getAttribute('aria-checked')}`)

test.each<[string, Partial<Watching>, string]>([
  ['is watched', {}, 'Watchedhttps://git.example.com/shop.git Checked Jan 31, 2026.'],
  ['was not checked yet', { state: 'off', checked_at: null }, 'Not watchedhttps://git.example.com/shop.git'],
  ['cannot be checked', { state: 'failing', message: 'The host is unknown.' }, 'Cannot checkThe host is unknown. Checked Jan 31, 2026.'],
])('a repository that %s', (_, own, expected) => {
  showWatching(own)
  expect(screen.getByRole('status').textContent).toBe(expected)
})

test.each<[string, Partial<Watching>, string, string]>([
  [
    'without pull requests',
    {},
    'Turning this off closes open previews.',
    'Deploy pushes to main: true, Previews of other branches: true, Previews of pull requests: false, A database for each preview: false',
  ],
  [
    'with pull requests, without previews',
    { previews: false, pull_requests: true, deploys_pushes: false, preview_databases: true },
    'Each branch pushed from now on gets its own URL.',
    'Deploy pushes to main: false, Previews of other branches: false, Previews of pull requests: true, Secrets for pull requests: false, A database for each preview: true',
  ],
])('automatic deployments %s', (_, own, hint, expected) => {
  const { text } = showWatching(own)
  expect(readSwitches().join(', ')).toBe(expected)
  expect(text()).toContain(hint)
})

test.each<[string, Partial<Watching>]>([
  ['Deploy pushes to main', { deploys_pushes: false }],
  ['Previews of other branches', { previews: false }],
  ['Previews of pull requests', { pull_requests: false }],
  ['Secrets for pull requests', { pull_request_secrets: true }],
  ['A database for each preview', { preview_databases: true }],
])('“%s” is changed at once', async (name, body) => {
  const { user, sent } = showWatching({ pull_requests: true })
  const before = readSwitches()
  await user.click(screen.getByRole('switch', { name }))
  expect(sent).toEqual([{ operation: 'updateWatching', params: { slug: 'my-shop' }, body }])
  expect(readSwitches()).not.toEqual(before)
})

test('the repository is checked', async () => {
  const { user, sent } = showWatching()
  const button = screen.getByRole('button', { name: 'Check now' })
  await user.click(button)
  expect(sent).toEqual([{ operation: 'checkRepository', params: { slug: 'my-shop' } }])
  expect(button.getAttribute('aria-busy')).toBe('true')
})
