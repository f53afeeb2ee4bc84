import { screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import DatabasePage from '../../../renderer/features/database/page.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { database } from '../../../server/contract/databases.ts'
import { deployment, deploymentDetail } from '../../../server/contract/deployments.ts'
import { instanceOperations, runtimeStatus, user } from '../../../server/contract/instance.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const sessionSchema = instanceOperations.getSession.success.json
const createSession = ({
  is_local = true,
  is_owner = true,
  runtime = 'docker',
}: { is_local?: boolean; is_owner?: boolean; runtime?: 'docker' | 'process' } = {}) =>
  createExample(sessionSchema, {
    user: createExample(user, { is_instance_owner: is_owner }),
    instance: { ...createExample(sessionSchema).instance, is_local, runtime: createExample(runtimeStatus, { name: runtime }) },
  })
const shopDatabase = createExample(database, { host: '127.0.0.1', port: 5432, engine_version: '18.4', size_bytes: 7_340_032 })
const shop = createExample(project, { slug: 'shop', name: 'Shop' })
const serving = createExample(deployment, { id: 'dpl_1', is_current: true })
const renderPage = (data: PartOptions['data'] = [], answers: PartOptions['answers'] = {}) =>
  renderPart(<DatabasePage slug="shop" />, {
    data: [[queryKeys.session, createSession()], [queryKeys.project('shop'), shop], [queryKeys.serving('shop'), null], ...data],
    answers,
  })
const withoutDatabase: [readonly unknown[], unknown] = [queryKeys.database('shop'), null]
/** A creation that another page started 90 minutes ago. */
function startCreation(slug: string): void {
  const { cache } = localConnection
  const state = { context: undefined, data: undefined, error: null, failureCount: 0, failureReason: null, isPaused: false }
  cache
    .getMutationCache()
    .build(
      cache,
      { mutationKey: ['createDatabase'] },
      { ...state, status: 'pending', variables: { params: { slug } }, submittedAt: Date.now() - 5_410_000 },
    )
}
const button = (name: string) => screen.getByRole('button', { name })

beforeEach(() => history.replaceState(null, '', '/app/projects/shop/database'))
afterEach(() => {
  useUi.setState({ toasts: [] })
  useConnection.setState({ current: localConnection })
  history.replaceState(null, '', '/app/')
})

test('a project without a database can create one', () => {
  expect(renderPage([withoutDatabase]).text()).toMatch(
    /^\[Database\] No database yet A PostgreSQL database for this project only. Other projects cannot access it. The app gets its connection string in DATABASE_URL from its first deployment. Create database/,
  )
})

test('a project that runs is redeployed with its database', () => {
  const { text } = renderPage([withoutDatabase, [queryKeys.serving('shop'), serving]])
  expect(text()).toContain('in DATABASE_URL when it is redeployed, right after the database is created.')
})

test('a database is created, and its deployment is followed', async () => {
  const { user, sent, text } = renderPage(
    [withoutDatabase, [queryKeys.deployment('shop', 'dpl_1'), createExample(deploymentDetail, { id: 'dpl_1', status: 'building' })]],
    { createDatabase: { database: shopDatabase, deployment_id: 'dpl_1' } },
  )
  await user.click(button('Create database'))
  expect(sent).toEqual([{ operation: 'createDatabase', params: { slug: 'shop' } }])
  expect(await screen.findByText('Redeploying the app with DATABASE_URL.')).toBeTruthy()
  expect(text()).toContain('Connection PostgreSQL 18.4')
  await user.click(button('Dismiss'))
  expect(text()).not.toContain('Redeploying')
})

test('the creation shows its progress', async () => {
  const { user, text } = renderPage([withoutDatabase])
  await user.click(button('Create database'))
  expect(text()).toContain('from its first deployment. Creating the database [Creating the database]')
  expect(screen.queryByRole('button', { name: 'Create database' })).toBeNull()
})

test.each([
  [
    'docker',
    'shop',
    'Creating the database1 h 30 min [Creating the database] The first database of an instance pulls the image and starts the server, which takes a minute or two. You can leave this page.',
  ],
  [
    'process',
    'shop',
    'Creating the database1 h 30 min [Creating the database] The first database of an instance sets up the server, which takes longer. You can leave this page.',
  ],
  ['process', 'blog', 'Create database'],
] as const)('on %s, a creation for %s that takes long says why', (runtime, slug, expected) => {
  startCreation(slug)
  const { text } = renderPage([withoutDatabase, [queryKeys.session, createSession({ runtime })]])
  expect(text()).toContain(`from its first deployment. ${expected}`)
})

test('a creation that began elsewhere hides errors and shows the progress of the platform', async () => {
  startCreation('shop')
  const { text } = renderPage([], { findDatabase: { database: null, unavailable: 'PostgreSQL is starting.' } })
  expect(await screen.findByText('PostgreSQL is starting.')).toBeTruthy()
  expect(text()).toContain('from its first deployment. PostgreSQL is starting.1 h 30 min [PostgreSQL is starting.]')
  expect(screen.queryByRole('alert')).toBeNull()
})

test.each([
  ['the owner of a simulated plan', true, true],
  ['a member', false, false],
])('a missing card: %s', async (_, is_owner, hasLink) => {
  const { user, text } = renderPage([withoutDatabase, [queryKeys.session, createSession({ is_owner })]], {
    createDatabase: problemResponse('payment_method_required', 'Add a card.'),
  })
  await user.click(button('Create database'))
  expect(await screen.findByText('Add a card.')).toBeTruthy()
  expect(text().includes('On this machine the plan is simulated: change it or add a card in the instance settings.')).toBe(hasLink)
})

test('another failed creation has no link to the plan', async () => {
  const { user, text } = renderPage([withoutDatabase], { createDatabase: problemResponse('storage_full', 'The disk is full.') })
  await user.click(button('Create database'))
  expect(await screen.findByText('The disk is full.')).toBeTruthy()
  expect(text()).not.toContain('the plan is simulated')
  expect(button('Create database')).toBeTruthy()
})

test('a database that exists by now is shown', async () => {
  const { user } = renderPage([withoutDatabase], {
    createDatabase: problemResponse('database_exists', 'There is one.'),
    findDatabase: { database: shopDatabase, unavailable: null },
  })
  await user.click(button('Create database'))
  expect(await screen.findByText('Connection')).toBeTruthy()
  expect(screen.queryByText('There is one.')).toBeNull()
})
