import { screen } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import DatabasePage from '../../../renderer/features/database/page.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type DatabaseUpgrade, databaseUpgrade } from '../../../server/contract/database-upgrades.ts'
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
const noContent = () => new Response(null, { status: 204 })
const renderPage = (data: PartOptions['data'] = [], answers: PartOptions['answers'] = {}) =>
  renderPart(<DatabasePage slug="shop" />, {
    data: [[queryKeys.session, createSession()], [queryKeys.project('shop'), shop], [queryKeys.serving('shop'), null], ...data],
    answers,
  })
const withDatabase: [readonly unknown[], unknown] = [queryKeys.database('shop'), shopDatabase]
const upgradeOf = (own: Partial<DatabaseUpgrade>): [readonly unknown[], unknown] => [
  queryKeys.databaseUpgrade('shop'),
  createExample(databaseUpgrade, { version: 17, upgrade_to: 18, previous_version: null, is_upgrading: false, ...own }),
]
const button = (name: string) => screen.getByRole('button', { name })
const headings = () => screen.getAllByRole('heading', { level: 2 }).map(({ textContent }) => textContent)
const toasts = () => useUi.getState().toasts.map(({ text }) => text)
const becomeRemote = () => useConnection.setState({ current: { ...localConnection, id: 'rem_1', origin: 'https://deploy.example.com' } })

beforeEach(() => history.replaceState(null, '', '/app/projects/shop/database'))

test('the page loads', () => {
  expect(renderPage().text()).toBe('Loading')
  expect(document.title).toBe('Database · Shop · Homeport')
})

test('the page waits for its project', () => {
  expect(renderPart(<DatabasePage slug="shop" />, { data: [withDatabase] }).text()).toBe('Loading')
  expect(document.title).toBe('Database · shop · Homeport')
})

test('a database that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { findDatabase: problemResponse('project_not_found', 'It is gone.') }
  const { user, text } = renderPage([], answers)
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  expect(text()).toMatch(/^It is gone. project_not_found/)
  answers.findDatabase = { database: null, unavailable: null }
  await user.click(button('Try again'))
  expect(await screen.findByText('No database yet')).toBeTruthy()
})

test('a server that is starting shows its progress', async () => {
  const { text } = renderPage([], { findDatabase: { database: null, unavailable: 'PostgreSQL is starting.' } })
  expect((await screen.findByRole('progressbar')).getAttribute('aria-label')).toBe('PostgreSQL is starting.')
  expect(text()).toBe('[Database] PostgreSQL is starting. [PostgreSQL is starting.] This page checks every few seconds and updates automatically.')
})

test('the connection hides the password until it is asked for', async () => {
  const { user, text } = renderPage([withDatabase])
  const [before, ...passwords] = [
    /created Jan 31, 2026 \[Connection string\]/,
    'postgresql://my_shop:••••••••••••@127.0.0.1:5432/my_shop [Show password]',
    'Password [Hidden password] ••••••••••••',
    '127.0.0.1:5432:my_shop:my_shop:••••••••••••',
  ]
  expect(text()).toMatch(before)
  for (const one of passwords) expect(text()).toContain(one)
  await user.click(button('Show password'))
  const shown = [
    'postgresql://my_shop:a-password-of-its-own@127.0.0.1:5432/my_shop [Hide password]',
    'Password a-password-of-its-own',
    '127.0.0.1:5432:my_shop:my_shop:a-password-of-its-own',
  ]
  for (const one of shown) expect(text()).toContain(one)
  expect(text()).not.toContain('••••')
  await user.click(button('Hide password'))
  expect(text()).not.toContain('a-password-of-its-own')
})

test.each([
  [true, 'Use these values with your own tools on this machine. The app connects'],
  [false, 'These values work only on the instance’s machine: 127.0.0.1 refers to that machine, not to this one. The app connects'],
])('the connection of a local instance (%s) says where it works', (is_local, expected) => {
  expect(renderPage([withDatabase, [queryKeys.session, createSession({ is_local })]]).text()).toContain(expected)
})

test('a database has a connection, dumps, an upgrade and a drop', () => {
  const { text } = renderPage([withDatabase, upgradeOf({})])
  expect(headings()).toEqual(['Connection', 'Dumps', 'Upgrade to PostgreSQL 18', 'Drop database'])
  expect(text()).toMatch(/^Connection PostgreSQL 18.4 · 7.3 MB · created Jan 31, 2026/)
})

test('a hosted account has neither dumps nor upgrades', () => {
  becomeRemote()
  renderPage([withDatabase, upgradeOf({}), [queryKeys.session, null]])
  expect(headings()).toEqual(['Connection', 'Drop database'])
})

test('a database is dropped after its name is typed, and the deployment without it is followed', async () => {
  const redeployment = createExample(deployment, { id: 'dpl_2', trigger: 'env_change' })
  const { user, sent, text } = renderPage(
    [withDatabase, [queryKeys.deployment('shop', 'dpl_2'), createExample(deploymentDetail, { id: 'dpl_2', status: 'failed' })]],
    { deleteDatabase: noContent(), listDeployments: { deployments: [redeployment], next_cursor: null } },
  )
  await user.click(button('Drop database…'))
  expect(text()).toContain(
    'Drop the database of Shop? All data is deleted. A final dump is saved first and listed on this page. Type shop to confirm Cancel Drop database [Close]',
  )
  await user.type(screen.getByLabelText('Type shop to confirm'), 'shop')
  await user.click(button('Drop database'))
  expect(sent).toEqual([{ operation: 'deleteDatabase', params: { slug: 'shop' } }])
  expect(await screen.findByText('Database dropped')).toBeTruthy()
  expect(text()).toContain('Its final dump is listed below until you delete it. A PostgreSQL database')
  expect(toasts()).toEqual(['Database dropped. A final dump was saved.'])
  expect(
    await screen.findByText('The deployment without DATABASE_URL failed. The previous version is still live, without its database.'),
  ).toBeTruthy()
})

test('a drop in progress cannot be closed', async () => {
  const { user, text } = renderPage([withDatabase])
  await user.click(button('Drop database…'))
  await user.type(screen.getByLabelText('Type shop to confirm'), 'shop')
  await user.click(button('Drop database'))
  expect(text()).toContain('Saving a dump, then dropping the database')
  await user.click(button('Cancel'))
  expect(screen.getByRole('dialog')).toBeTruthy()
})

test('an address opens the drop, and closing it removes the parameter', async () => {
  history.replaceState(null, '', '/app/projects/shop/database?do=drop')
  const { user, text } = renderPage([withDatabase], { deleteDatabase: problemResponse('storage_full', 'The disk is full.') })
  await user.type(screen.getByLabelText('Type shop to confirm'), 'shop')
  await user.click(button('Drop database'))
  expect(await screen.findByText('The disk is full.')).toBeTruthy()
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(location.search).toBe('')
  await user.click(button('Drop database…'))
  expect(text()).not.toContain('The disk is full.')
})
const serving = createExample(deployment, { id: 'dpl_1', is_current: true })
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
