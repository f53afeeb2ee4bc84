import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { EnvVar } from '../../server/contract/env-vars.ts'
import type { Remote } from '../../server/contract/remotes.ts'
import { createTarGz } from '../support/archives.ts'
import { signalFileIn, type TestPlatform } from '../support/platform.ts'
import { greetingAppFiles, expect, expectAccessible, test as base, uploadArchive } from './fixtures.ts'

interface PromotionFixture {
  /** Another whole platform, which the first one knows as “Berth”. */
  target: TestPlatform
  /** Its address in the dashboard of the first. */
  targetUrl: string
}

const test = base.extend<{ promotion: PromotionFixture }>({
  /** Its token is stored for the session, so each test provides it again. */
  async promotion({ dashboard, platform, startSecondPlatform }, use) {
    const target = await startSecondPlatform()
    const known = (await platform.api<{ remotes: Remote[] }>('GET', '/instance/remotes')).body.remotes[0]
    const { token } = target.handle.instance
    const [method, path, body] = known
      ? ['PATCH', `/instance/remotes/${known.id}`, { token }]
      : ['POST', '/instance/remotes', { url: target.handle.api_url, token, name: 'Berth', hue: 20 }]
    const { remote } = await dashboard.evaluate(
      async (ask) => {
        const headers = { 'content-type': 'application/json', 'x-homeport-session': localStorage.getItem('homeport.session') ?? '' }
        const response = await fetch(ask.path, { method: ask.method, body: JSON.stringify(ask.body), headers })
        return (await response.json()) as { remote: Remote }
      },
      { method, path, body } as { method: string; path: string; body: object },
    )
    await use({ target, targetUrl: `${platform.handle.dashboard_url}on/${remote.id}/` })
  },
})
test.use({ platform_name: 'promote' })
test.describe.configure({ mode: 'serial' })

const secrets = ['hunter2-of-the-quay', 'swordfish-of-the-berth']
const dialog = (page: Page) => page.getByRole('dialog')
const promotionCard = (page: Page) => page.getByRole('region', { name: /quay-shop to|cargo to/ })
/** A row of differences: its name, here, there. */
const row = (page: Page, name: string) =>
  dialog(page)
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name, exact: true }) })

const deployments = async (of: TestPlatform, slug: string) =>
  (await of.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments`)).body.deployments
const variables = async (of: TestPlatform, slug: string) =>
  (await of.api<{ env_vars: EnvVar[] }>('GET', `/v1/projects/${slug}/env-vars`)).body.env_vars.map(({ key, value, environment }) => ({
    key,
    value,
    environment,
  }))
const add = (to: TestPlatform, slug: string, vars: { key: string; value: string; environment?: 'production' | 'preview' }[]) =>
  to.api('POST', `/v1/projects/${slug}/env-vars`, { vars })

/** No value of a variable is on the screen. */
async function expectValuesHidden(page: Page): Promise<void> {
  const text = await page.evaluate(
    () => document.documentElement.outerHTML + [...document.querySelectorAll('input')].map(({ value }) => value).join(),
  )
  for (const secret of secrets) expect(text).not.toContain(secret)
}

/** Slows down uploads. */
async function throttleUpload(page: Page): Promise<(bytes: number) => Promise<unknown>> {
  const line = await page.context().newCDPSession(page)
  await line.send('Network.enable')
  return (uploadThroughput) => line.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput })
}

test('a project is promoted to another instance, after the differences are shown', async ({ dashboard, platform, promotion, createRepository }) => {
  const { target, targetUrl } = promotion
  const source = createRepository(
    Object.fromEntries(Object.entries(greetingAppFiles('Hello from the quay')).map(([name, text]) => [`apps/web/${name}`, text])),
  )
  await platform.createProject({ slug: 'quay-shop', name: 'Quay shop', repo_url: source.url })
  await platform.api('PATCH', '/v1/projects/quay-shop', { root_directory: 'apps/web', memory_limit_mb: 768 })
  await add(platform, 'quay-shop', [
    { key: 'API_TOKEN', value: secrets[0] ?? '' },
    { key: 'TIDES', value: 'high' },
    { key: 'MODE', value: 'night', environment: 'production' },
  ])
  const { id } = await platform.deploy('quay-shop')
  expect((await platform.waitForEnd('quay-shop', id)).status).toBe('ready')

  await dashboard.goto(`${platform.handle.dashboard_url}projects/quay-shop`)
  await dashboard.getByRole('button', { name: 'More actions' }).click()
  await dashboard.getByRole('menuitem', { name: 'Promote…' }).click()
  await expect(dialog(dashboard).getByRole('radio', { name: /Berth/ })).toBeChecked()
  await expect(dialog(dashboard).getByLabel('Target project')).toHaveValue('quay-shop')
  await expect(dialog(dashboard).getByText('No project has this slug. A new project is created.')).toBeVisible()
  await expect(dialog(dashboard).getByRole('region', { name: 'What is promoted' })).toContainText('First')
  await expect(row(dashboard, 'Root directory').getByRole('cell')).toHaveText(['apps/web', '.'])
  await expect(row(dashboard, 'Memory').getByRole('cell')).toHaveText(['768 MB', '512 MB'])
  await expect(dialog(dashboard).getByRole('columnheader', { name: 'Berth (a new project)' })).toBeVisible()
  await expect(dialog(dashboard).getByText(/\d+ other settings are the same\./)).toBeVisible()
  await expect(row(dashboard, 'API_TOKEN').getByRole('cell')).toHaveText(['production and previews', 'not set'])
  await expect(row(dashboard, 'MODE').getByRole('cell')).toHaveText(['production', 'not set'])
  // Values are sent only on request.
  for (const key of ['API_TOKEN', 'TIDES', 'MODE']) await expect(dialog(dashboard).getByRole('checkbox', { name: key })).not.toBeChecked()
  await expectValuesHidden(dashboard)
  await expectAccessible(dashboard, 'promote to a new project')
  await dialog(dashboard).getByRole('checkbox', { name: 'API_TOKEN' }).check()
  await dialog(dashboard).getByRole('button', { name: 'Promote to Berth' }).click()

  await expect(dashboard).toHaveURL(new RegExp(`${targetUrl.replace(/^https?:/, '')}projects/quay-shop/deployments/dpl_`))
  await expectValuesHidden(dashboard)
  await expect(dashboard.getByTestId('report-head').getByText('Ready', { exact: true })).toBeVisible()
  await expect(dashboard.getByTestId('report-message')).toContainText('First')
  expect((await target.fetchEdge('quay-shop.localhost')).body).toContain('Hello from the quay')
  expect(await target.getProject('quay-shop')).toMatchObject({ name: 'Quay shop', root_directory: 'apps/web', memory_limit_mb: 768, repo_url: null })
  expect(await variables(target, 'quay-shop')).toEqual([{ key: 'API_TOKEN', value: secrets[0], environment: null }])
  expect(await deployments(target, 'quay-shop')).toHaveLength(1)
})

test('promoting to an existing project: one build with the selected changes, and its data stays', async ({
  dashboard,
  platform,
  promotion,
  createRepository,
}) => {
  const { target } = promotion
  const source = createRepository(greetingAppFiles('Second voyage'))
  await platform.api('PATCH', '/v1/projects/quay-shop', { root_directory: '.', repo_url: source.url, build_command: 'node build.js' })
  await add(target, 'quay-shop', [
    { key: 'MODE', value: secrets[1] ?? '' },
    { key: 'ONLY_THERE', value: secrets[1] ?? '', environment: 'preview' },
  ])
  await expect.poll(async () => (await deployments(target, 'quay-shop')).every(({ status }) => status === 'ready')).toBe(true)
  await platform.waitForEnd('quay-shop', (await platform.deploy('quay-shop')).id)
  const before = await deployments(target, 'quay-shop')

  await dashboard.goto(`${platform.handle.dashboard_url}projects/quay-shop`)
  await dashboard.getByRole('region', { name: 'Live' }).getByRole('link', { name: 'Promote…' }).click()
  await expect(dialog(dashboard).getByText('quay-shop exists (“Quay shop”, live). It gets a new deployment.')).toBeVisible()
  await expect(row(dashboard, 'Root directory').getByRole('cell')).toHaveText(['.', 'apps/web'])
  await expect(row(dashboard, 'Build command').getByRole('cell')).toHaveText(['node build.js', 'detected'])
  await expect(row(dashboard, 'MODE').getByRole('cell')).toHaveText(['production', 'production and previews'])
  await expect(row(dashboard, 'MODE').getByRole('checkbox')).toHaveCount(0)
  await expect(row(dashboard, 'ONLY_THERE').getByRole('cell')).toHaveText(['not set', 'previews (kept)'])
  await expect(dialog(dashboard).getByText('One other name is the same.')).toBeVisible()
  await expectValuesHidden(dashboard)
  await expectAccessible(dashboard, 'promote to a project that is there')
  await dialog(dashboard).getByRole('checkbox', { name: 'TIDES' }).check()
  await dialog(dashboard).getByRole('checkbox', { name: 'Build command' }).uncheck()
  await dialog(dashboard).getByRole('button', { name: 'Promote to Berth' }).click()

  await expect(dashboard).toHaveURL(/\/on\/.*\/projects\/quay-shop\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect((await target.fetchEdge('quay-shop.localhost')).body).toContain('Second voyage')
  expect(await target.getProject('quay-shop')).toMatchObject({ root_directory: '.', build_command: 'auto', repo_url: null })
  expect(await variables(target, 'quay-shop')).toEqual([
    { key: 'API_TOKEN', value: secrets[0], environment: null },
    { key: 'MODE', value: secrets[1], environment: null },
    { key: 'TIDES', value: 'high', environment: null },
    { key: 'ONLY_THERE', value: secrets[1], environment: 'preview' },
  ])
  // The variable would have started a build of the old source, which never served.
  const after = (await deployments(target, 'quay-shop')).slice(0, -before.length)
  expect(after.map(({ trigger }) => trigger)).toEqual(['upload', 'env_change'])
  expect(after[0]?.status).toBe('ready')
  // With the new settings the old source may have failed before it could be canceled.
  expect(['canceled', 'failed']).toContain(after[1]?.status)
})

test('a project of another instance is pulled to this machine', async ({ dashboard, platform, promotion }) => {
  await platform.createProject({ slug: 'anchor' })
  await platform.api('DELETE', '/v1/projects/quay-shop')
  await dashboard.goto(platform.handle.dashboard_url)
  await dashboard.getByRole('button', { name: 'New project' }).first().click()
  await dialog(dashboard).getByRole('button', { name: 'From another instance…' }).click()
  await expect(dialog(dashboard).getByRole('radio', { name: /Berth/ })).toBeChecked()
  await dialog(dashboard).getByLabel('Source project').fill('quay-shop')
  await expectAccessible(dashboard, 'a project from another instance')
  await dialog(dashboard).getByRole('button', { name: 'Next' }).click()
  await expect(dashboard).toHaveURL(`${promotion.targetUrl}projects/quay-shop?do=pull`)
  await expect(dialog(dashboard).getByRole('heading', { name: 'Pull Quay shop to this machine', exact: true })).toBeVisible()
  await expect(dialog(dashboard).getByRole('radio', { name: /This machine/ })).toBeChecked()
  await expect(row(dashboard, 'Memory').getByRole('cell')).toHaveText(['768 MB', '512 MB'])
  await expectValuesHidden(dashboard)
  await expectAccessible(dashboard, 'pull')
  await dialog(dashboard)
    .getByRole('button', { name: /Select all 4/ })
    .click()
  await dialog(dashboard).getByRole('button', { name: 'Pull to this machine' }).click()
  await expect(dashboard).toHaveURL(/\/app\/projects\/quay-shop\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect((await platform.fetchEdge('quay-shop.localhost')).body).toContain('Second voyage')
  expect(await variables(platform, 'quay-shop')).toEqual(await variables(promotion.target, 'quay-shop'))
})

test('canceled during the upload, it leaves nothing on the target; an existing project is unchanged', async ({ dashboard, platform, promotion }) => {
  const { target } = promotion
  await platform.createProject({ slug: 'cargo', name: 'Cargo' })
  // A build waits while this file exists.
  const shut = signalFileIn(target.data_dir, 'shut')
  const build = `const looking = setInterval(() => require('node:fs').existsSync(${JSON.stringify(shut)}) || clearInterval(looking), 50)`
  const files = Object.entries(greetingAppFiles('Cargo', build)).map(([name, data]) => ({ name, data }))
  await uploadArchive(platform, 'cargo', createTarGz([...files, { name: 'cargo.bin', data: randomBytes(6 * 2 ** 20) }]))
  await add(platform, 'cargo', [{ key: 'CRANE', value: secrets[0] ?? '' }])
  await expect.poll(async () => (await deployments(platform, 'cargo')).every(({ finished_at }) => finished_at !== null)).toBe(true)
  const throttle = await throttleUpload(dashboard)
  const begin = async () => {
    await dashboard.goto(`${platform.handle.dashboard_url}projects/cargo?do=promote`)
    await dialog(dashboard).getByRole('checkbox', { name: 'CRANE' }).check()
    await throttle(200_000)
    await dialog(dashboard).getByRole('button', { name: 'Promote to Berth' }).click()
    await expect(promotionCard(dashboard).getByRole('progressbar', { name: 'Uploading to Berth' })).toBeVisible()
  }

  await begin()
  await expect(promotionCard(dashboard)).toContainText(/left/)
  await expectAccessible(dashboard, 'a promotion under way')
  // It continues while the user visits other pages.
  await dashboard.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Projects' }).click()
  await expect(promotionCard(dashboard).getByRole('listitem').filter({ hasText: 'Variables' })).toContainText('1 added')
  await expectValuesHidden(dashboard)
  expect((await target.getProject('cargo')).status).toBe('created')
  await promotionCard(dashboard).getByRole('button', { name: 'Cancel' }).click()
  await expect(promotionCard(dashboard)).toBeHidden()
  await expect.poll(async () => (await target.api('GET', '/v1/projects/cargo')).status).toBe(404)

  await throttle(-1)
  await target.createProject({ slug: 'cargo', name: 'Old cargo' })
  await target.api('PATCH', '/v1/projects/cargo', { memory_limit_mb: 256 })
  await uploadArchive(target, 'cargo', createTarGz(files))
  const before = await deployments(target, 'cargo')
  // The build that the variable starts there is running when it is canceled, however long that takes.
  writeFileSync(shut, '')
  await begin()
  expect(await target.getProject('cargo')).toMatchObject({ name: 'Cargo', memory_limit_mb: 512 })
  await promotionCard(dashboard).getByRole('button', { name: 'Cancel' }).click()
  await expect(promotionCard(dashboard)).toBeHidden()
  expect(await target.getProject('cargo')).toMatchObject({ name: 'Old cargo', memory_limit_mb: 256, status: 'live' })
  expect(await variables(target, 'cargo')).toEqual([])
  const after = (await deployments(target, 'cargo')).slice(0, -before.length)
  expect(after.filter(({ status }) => status !== 'canceled')).toEqual([])
  rmSync(shut)
  await throttle(-1)
})

test('a promotion whose page was closed midway can be resumed', async ({ dashboard, platform, promotion }) => {
  const { target } = promotion
  await platform.createProject({ slug: 'ballast', name: 'Ballast' })
  const files = Object.entries(greetingAppFiles('Ballast')).map(([name, data]) => ({ name, data }))
  await add(platform, 'ballast', [{ key: 'CRANE', value: secrets[0] ?? '' }])
  await uploadArchive(platform, 'ballast', createTarGz([...files, { name: 'ballast.bin', data: randomBytes(2 * 2 ** 20) }]))
  const cut = dashboard.getByRole('region', { name: 'ballast to Berth' })
  dashboard.on('dialog', (dialog) => void dialog.accept())
  const throttle = await throttleUpload(dashboard)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/ballast?do=promote`)
  await dialog(dashboard).getByRole('checkbox', { name: 'CRANE' }).check()
  await throttle(50_000)
  await dialog(dashboard).getByRole('button', { name: 'Promote to Berth' }).click()
  await expect(cut.getByRole('progressbar', { name: 'Uploading to Berth' })).toBeVisible()

  await dashboard.goto(`${platform.handle.dashboard_url}projects/ballast`)
  await throttle(-1)
  await expect(cut).toContainText('The page was closed while this was in progress. Completed: project, variables.')
  expect(await dashboard.evaluate(() => JSON.stringify(localStorage))).not.toContain(secrets[0])
  await expectAccessible(dashboard, 'a promotion that was cut')
  await cut.getByRole('button', { name: 'Resume' }).click()
  await expect(dashboard).toHaveURL(/\/on\/.*\/projects\/ballast\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect(await variables(target, 'ballast')).toEqual([{ key: 'CRANE', value: secrets[0], environment: null }])
  expect(await deployments(target, 'ballast')).toHaveLength(1)
  await expect.poll(() => dashboard.evaluate(() => localStorage.getItem('homeport.promotions'))).toBe('[]')
})

test('a project created on the target whose response was lost is removed by undoing it from the next page', async ({
  dashboard,
  platform,
  promotion,
}) => {
  const { target } = promotion
  await target.api('DELETE', '/v1/projects/ballast')
  await dashboard.route('**/remote/*/v1/projects', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    await route.fetch()
    await route.abort()
  })
  const cut = dashboard.getByRole('region', { name: 'ballast to Berth' })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/ballast?do=promote`)
  await dialog(dashboard).getByRole('button', { name: 'Promote to Berth' }).click()
  await expect(cut.getByRole('alert')).toBeVisible()
  expect((await target.api('GET', '/v1/projects/ballast')).status).toBe(200)
  await dashboard.unroute('**/remote/*/v1/projects')
  await dashboard.goto(`${platform.handle.dashboard_url}projects/ballast`)
  await expect(cut).toContainText('The page was closed while this was in progress. Resume')
  await cut.getByRole('button', { name: 'Undo changes' }).click()
  await expect(cut).toBeHidden()
  expect((await target.api('GET', '/v1/projects/ballast')).status).toBe(404)
})

test('a failure says where it happened, and a retry continues from there; giving up undoes it', async ({ dashboard, platform, promotion }) => {
  const { target } = promotion
  await target.api('DELETE', '/v1/projects/cargo')
  let sources = 0
  dashboard.on('request', (request) => request.url().endsWith('/source') && sources++)
  await dashboard.route('**/projects/cargo/upload*', (route) => route.abort())
  const begin = async () => {
    await dashboard.goto(`${platform.handle.dashboard_url}projects/cargo?do=promote`)
    await dialog(dashboard).getByRole('checkbox', { name: 'CRANE' }).check()
    await dialog(dashboard).getByRole('button', { name: 'Promote to Berth' }).click()
    await expect(promotionCard(dashboard).getByRole('alert')).toBeVisible()
  }
  await begin()
  await expect(promotionCard(dashboard)).toContainText('Upload: failed. Completed: source fetched, project (created), variables (1 added).')
  await expectAccessible(dashboard, 'a promotion that failed')
  await expectValuesHidden(dashboard)
  await promotionCard(dashboard).getByRole('button', { name: 'Undo changes' }).click()
  await expect(promotionCard(dashboard)).toBeHidden()
  expect((await target.api('GET', '/v1/projects/cargo')).status).toBe(404)

  await begin()
  await dashboard.unroute('**/projects/cargo/upload*')
  await promotionCard(dashboard).getByRole('button', { name: 'Try again' }).click()
  await expect(dashboard).toHaveURL(/\/on\/.*\/projects\/cargo\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect(sources).toBe(2)
  expect(await variables(target, 'cargo')).toEqual([{ key: 'CRANE', value: secrets[0], environment: null }])

  // A source that no longer exists is reported before anything is created there.
  await dashboard.route('**/source', (route) =>
    route.fulfill({
      status: 404,
      json: { error: 'source_not_found', message: 'The archive is no longer stored. Upload it again.', request_id: 'req_1' },
    }),
  )
  await dashboard.goto(`${platform.handle.dashboard_url}projects/cargo?do=promote`)
  await dialog(dashboard).getByLabel('Target project').fill('cargo-two')
  await dialog(dashboard).getByRole('button', { name: 'Promote to Berth' }).click()
  await expect(promotionCard(dashboard).getByRole('alert')).toContainText('The archive is no longer stored.')
  expect((await target.api('GET', '/v1/projects/cargo-two')).status).toBe(404)
  await promotionCard(dashboard).getByRole('button', { name: 'Undo changes' }).click()
})

test('a hosted service has only the operations of /v1: everything can be promoted to it, only git projects pulled from it', async ({
  dashboard,
  platform,
  promotion,
  createRepository,
}) => {
  const { target, targetUrl } = promotion
  await dashboard.route('**/remote/*/instance/**', (route) =>
    route.fulfill({ status: 404, json: { error: 'route_not_found', message: 'Page not found.', request_id: 'req_1' } }),
  )
  await dashboard.goto(`${platform.handle.dashboard_url}projects/cargo?do=promote`)
  await dialog(dashboard).getByLabel('Target project').fill('hosted-cargo')
  await dialog(dashboard).getByRole('checkbox', { name: 'CRANE' }).check()
  await dialog(dashboard).getByRole('button', { name: 'Promote to Berth' }).click()
  await expect(dashboard).toHaveURL(/\/projects\/hosted-cargo\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect(await variables(target, 'hosted-cargo')).toEqual([{ key: 'CRANE', value: secrets[0], environment: null }])

  // It has no git address, and does not export its source.
  await dashboard.goto(`${targetUrl}projects/hosted-cargo?do=pull`)
  await expect(dialog(dashboard).getByRole('alert')).toContainText('Berth does not provide sources and this project has no Git URL')
  await expect(dialog(dashboard).getByRole('button', { name: 'Pull to this machine' })).toBeDisabled()

  const source = createRepository(greetingAppFiles('From its repository'))
  await target.createProject({ slug: 'hosted-git', name: 'Hosted git', repo_url: source.url })
  await add(target, 'hosted-git', [{ key: 'LAMP', value: secrets[1] ?? '' }])
  await dashboard.goto(`${targetUrl}projects/hosted-git?do=pull`)
  await expect(dialog(dashboard).getByRole('region', { name: 'What is pulled' })).toContainText(`The latest commit of main of ${source.url}`)
  await dialog(dashboard).getByRole('checkbox', { name: 'LAMP' }).check()
  await expectAccessible(dashboard, 'pull from a hosted service')
  await dialog(dashboard).getByRole('button', { name: 'Pull to this machine' }).click()
  await expect(dashboard).toHaveURL(/\/app\/projects\/hosted-git\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect((await platform.fetchEdge('hosted-git.localhost')).body).toContain('From its repository')
  expect(await platform.getProject('hosted-git')).toMatchObject({ repo_url: source.url, repo_branch: 'main' })
  expect(await variables(platform, 'hosted-git')).toEqual([{ key: 'LAMP', value: secrets[1], environment: null }])
})
