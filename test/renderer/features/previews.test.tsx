import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { describeData } from '../../../renderer/features/previews/describe-data.ts'
import { PreviewRows, SkippedPushes } from '../../../renderer/features/previews/index.ts'
import PreviewsPage from '../../../renderer/features/previews/page.tsx'
import { findPullRequestNumber, previewBadge } from '../../../renderer/features/previews/preview-badge.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { type Preview, preview, type SkippedPush, skippedPush, type Watching, watching } from '../../../server/contract/previews.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createPreview = (own: Partial<Preview> = {}) =>
  createExample(preview, {
    branch: 'docs',
    host: 'docs--my-shop.localhost',
    status: 'ready',
    url: 'http://docs--my-shop.localhost',
    is_cold: false,
    ...own,
  })
const createProject = (own: Partial<Project> = {}) => createExample(project, { repo_url: 'https://git.example.com/shop.git', ...own })
const createWatching = (own: Partial<Watching> = {}) =>
  createExample(watching, { deploys_pushes: true, previews: true, pull_requests: false, message: null, skipped: [], state: 'watching', ...own })

test.each<[string, Partial<Preview>, string]>([
  [
    'a live branch',
    {},
    '[Deployment of docs, Live] docsdocs--my-shop.localhost [Copy URL of docs] [Log of docs] Show prices with tax3f8a6c1 Jan 31, 2026 Live',
  ],
  [
    'a sleeping branch',
    { is_cold: true },
    '[Deployment of docs, Live, asleep] docsdocs--my-shop.localhost [Copy URL of docs] [Log of docs] Show prices with tax3f8a6c1 Jan 31, 2026 Live, asleeplast visit Jan 31, 2026',
  ],
  [
    'a sleeping branch without a visit',
    { is_cold: true, last_request_at: null },
    '[Deployment of docs, Live, asleep] docsdocs--my-shop.localhost [Copy URL of docs] [Log of docs] Show prices with tax3f8a6c1 Jan 31, 2026 Live, asleep',
  ],
  [
    'a branch whose new version failed',
    { status: 'failed' },
    '[Deployment of docs, Failed] docsdocs--my-shop.localhost [Copy URL of docs] [Log of docs] Show prices with tax3f8a6c1 Jan 31, 2026 Failedthe previous version is live',
  ],
  [
    'a branch whose first version failed',
    { status: 'failed', url: null, is_cold: true, last_request_at: null },
    '[Deployment of docs, Failed] docsdocs--my-shop.localhost Show prices with tax3f8a6c1 Jan 31, 2026 Failed',
  ],
  [
    'a pull request without a commit',
    { branch: 'pull/12', commit_sha: null, commit_message: null },
    '[Deployment of pull/12, Live] Pull request 12docs--my-shop.localhost [Copy URL of pull/12] [Log of pull/12] No message Jan 31, 2026 Live',
  ],
])('the preview of %s', (_, own, expected) => {
  expect(renderPart(<PreviewRows slug="my-shop" previews={[createPreview(own)]} />).text()).toBe(expected)
})

test.each([
  ['ready', false, 'http://docs', 'Live'],
  ['ready', true, 'http://docs', 'Live, asleep'],
  ['ready', true, null, 'Ready'],
  ['building', true, 'http://docs', 'Building'],
] as const)('a preview that is %s, asleep: %s, at %s is labeled “%s”', (status, is_cold, url, label) => {
  expect(previewBadge({ status, is_cold, url }).label).toBe(label)
})

test.each([
  ['pull/12', '12'],
  ['pull/12a', null],
  ['my/pull/12', null],
  ['main', null],
])('the pull request of %s is %s', (branch, number) => expect(findPullRequestNumber(branch)).toBe(number))

const volume = (name: string, size_bytes: number | null) => ({ name, size_bytes })
test.each([
  [[], false, null, 'nothing'],
  [[volume('notes', 12_000_000), volume('cache', null)], true, null, 'notes (12 MB), cache, PostgreSQL'],
  [[], true, 0, 'PostgreSQL (0 B)'],
])('%j with a database: %s of %s bytes is “%s”', (volumes, hasDatabase, bytes, expected) => {
  expect(describeData(volumes, hasDatabase, bytes)).toBe(expected)
})

const showPage = (own: Partial<Project>, previews: Preview[] | undefined, state: Watching | null | undefined, answers: PartOptions['answers'] = {}) =>
  renderPart(<PreviewsPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), createProject(own)],
      [queryKeys.previews('my-shop'), previews],
      [queryKeys.watching('my-shop'), state],
      [queryKeys.forks('my-shop'), { forks: [], production: { volumes: [], has_database: true } }],
    ],
    answers,
  })

test.each<[string, Partial<Project>, Preview[] | undefined, Watching | null | undefined, string]>([
  ['loads', {}, undefined, createWatching(), 'PreviewsLoading'],
  [
    'has no repository',
    { is_connected: false },
    [],
    null,
    'PreviewsPreviews need a repositoryEach branch you push gets a preview at its own URL. Add the Git URL of the repository in the project settings.Open settings | Copies of production data',
  ],
  [
    'has previews turned off',
    {},
    [],
    createWatching({ previews: false }),
    'PreviewsPreviews are offTurn them on below: each branch you push from then on gets its own URL. | Automatic deployments | Copies of production data',
  ],
  [
    'has a remote repository',
    {},
    [],
    createWatching(),
    'PreviewsNo open previewsPush a branch other than main: it is deployed at its own URL until you delete the branch. Existing branches get one with their next commit.git push -u origin HEAD | Automatic deployments | Copies of production data',
  ],
  [
    'has a local repository',
    { repo_url: 'file:///srv/shop' },
    [],
    null,
    'PreviewsNo open previewsCommit to a branch other than main: it is deployed at its own URL until you delete the branch. Existing branches get one with their next commit.git switch -c my-idea | Copies of production data',
  ],
  ['has one preview', {}, [createPreview()], createWatching(), 'Previews1 preview | Automatic deployments | Copies of production data'],
  [
    'has two previews',
    {},
    [createPreview(), createPreview({ branch: 'shop' })],
    createWatching(),
    'Previews2 previews | Automatic deployments | Copies of production data',
  ],
  ['is not known to be watched', {}, [createPreview()], undefined, 'Previews1 preview'],
])('the previews of a project that %s', (_, own, previews, state, expected) => {
  showPage(own, previews, state)
  const sections = screen.getAllByRole('region')
  const list = screen.getByRole('region', { name: 'Previews' })
  const intro = within(list).queryByRole('list') ? within(list).getByRole('heading').parentElement : list
  expect([intro?.textContent, ...sections.slice(1).map((section) => within(section).getAllByRole('heading')[0]?.textContent)].join(' | ')).toBe(
    expected,
  )
})

test('previews that cannot be loaded are explained', async () => {
  showPage({}, undefined, createWatching(), { listPreviews: problemResponse('project_not_found', 'There is no such project.') })
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such project.')
})

test('a watching state that cannot be loaded is explained beside the previews', async () => {
  showPage({}, [createPreview()], undefined, { getWatching: problemResponse('project_not_found', 'There is no such project.') })
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such project.')
  expect(screen.getAllByRole('heading').map(({ textContent }) => textContent)).toEqual(['Previews', 'Copies of production data'])
})

const push = (own: Partial<SkippedPush>) => createExample(skippedPush, { branch: 'docs', commit_message: 'Fix a link\n\nDetails', ...own })
test.each([
  [0, 'No file differs from the deployed commit.'],
  [1, 'The changed file is outside of the watch paths.'],
  [2, 'All 2 changed files are outside of the watch paths.'],
])('a skipped push with %d changed files', (changed_files, reason) => {
  const { text } = renderPart(<SkippedPushes slug="my-shop" />, {
    data: [[queryKeys.watching('my-shop'), createWatching({ skipped: [push({ changed_files })] })]],
  })
  expect(text()).toBe(`Skipped pushes Watch paths docs 3f8a6c1 Fix a link${reason} Jan 31, 2026 [Deploy anyway: docs] Deploy anyway`)
})

test.each([
  ['without a skipped push', createWatching()],
  ['that is not watched', null],
])('a project %s shows none', (_, state) => {
  expect(renderPart(<SkippedPushes slug="my-shop" />, { data: [[queryKeys.watching('my-shop'), state]] }).text()).toBe('')
})

test('a skipped push is deployed', async () => {
  const answer = createExample(deployment, { id: 'dpl_9' })
  const { user, sent } = renderPart(<SkippedPushes slug="my-shop" />, {
    data: [[queryKeys.watching('my-shop'), createWatching({ skipped: [push({}), push({ branch: 'main' })] })]],
    answers: { deploySkippedPush: { deployment_id: 'dpl_9', status: 'queued', deployment: answer } },
  })
  await user.click(screen.getByRole('button', { name: 'Deploy anyway: main' }))
  expect(sent).toEqual([{ operation: 'deploySkippedPush', params: { slug: 'my-shop' }, body: { branch: 'main' } }])
  await waitFor(() => expect(location.pathname).toBe('/projects/my-shop/deployments/dpl_9'))
})

test('only the button of the push that is being deployed is busy', async () => {
  const { user } = renderPart(<SkippedPushes slug="my-shop" />, {
    data: [[queryKeys.watching('my-shop'), createWatching({ skipped: [push({}), push({ branch: 'main' })] })]],
  })
  await user.click(screen.getByRole('button', { name: 'Deploy anyway: main' }))
  expect(screen.getAllByRole('button').map((button) => button.getAttribute('aria-busy'))).toEqual([null, 'true'])
})
