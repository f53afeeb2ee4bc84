import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { EnvVar } from '../../server/contract/env-vars.ts'
import type { Remote } from '../../server/contract/remotes.ts'
import { tgzOf } from '../support/archives.ts'
import { gateIn, type TestPlatform } from '../support/platform.ts'
import { app, expect, expectForEverybody, test as base, upload } from './fixtures.ts'

interface Berth {
  /** Another whole platform, which the first one knows as “Berth”. */
  there: TestPlatform
  /** Its address in the dashboard of the first. */
  on: string
}

const test = base.extend<{ berth: Berth }>({
  /** Its token is held as long as somebody is signed in: each story gives it anew. */
  async berth({ desk, home, startOther }, use) {
    const there = await startOther()
    const known = (await home.api<{ remotes: Remote[] }>('GET', '/instance/remotes')).body.remotes[0]
    const { token } = there.platform.instance
    const [method, path, body] = known
      ? ['PATCH', `/instance/remotes/${known.id}`, { token }]
      : ['POST', '/instance/remotes', { url: there.platform.api_url, token, name: 'Berth', hue: 20 }]
    const { remote } = await desk.evaluate(
      async (ask) => {
        const headers = { 'content-type': 'application/json', 'x-homeport-session': localStorage.getItem('homeport.session') ?? '' }
        const answer = await fetch(ask.path, { method: ask.method, body: JSON.stringify(ask.body), headers })
        return (await answer.json()) as { remote: Remote }
      },
      { method, path, body } as { method: string; path: string; body: object },
    )
    await use({ there, on: `${home.platform.dashboard_url}on/${remote.id}/` })
  },
})
test.use({ platform_name: 'promote' })
test.describe.configure({ mode: 'serial' })

const secrets = ['hunter2-of-the-quay', 'swordfish-of-the-berth']
const dialog = (page: Page) => page.getByRole('dialog')
const plate = (page: Page) => page.getByRole('region', { name: /quay-shop to|cargo to/ })
/** A row of what differs: its name, here, there. */
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

/** Whoever looks over the shoulder reads no value. */
async function hidesValues(page: Page): Promise<void> {
  const text = await page.evaluate(
    () => document.documentElement.outerHTML + [...document.querySelectorAll('input')].map(({ value }) => value).join(),
  )
  for (const secret of secrets) expect(text).not.toContain(secret)
}

/** The line up to others becomes slow. */
async function slowLine(page: Page): Promise<(bytes: number) => Promise<unknown>> {
  const line = await page.context().newCDPSession(page)
  await line.send('Network.enable')
  return (uploadThroughput) => line.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput })
}

test('what runs here goes to another instance, and what differs is said before', async ({ desk, home, berth, repository }) => {
  const { there, on } = berth
  const source = repository(Object.fromEntries(Object.entries(app('Hello from the quay')).map(([name, text]) => [`apps/web/${name}`, text])))
  await home.createProject({ slug: 'quay-shop', name: 'Quay shop', repo_url: source.url })
  await home.api('PATCH', '/v1/projects/quay-shop', { root_directory: 'apps/web', memory_limit_mb: 768 })
  await add(home, 'quay-shop', [
    { key: 'API_TOKEN', value: secrets[0] ?? '' },
    { key: 'TIDES', value: 'high' },
    { key: 'MODE', value: 'night', environment: 'production' },
  ])
  const { id } = await home.deploy('quay-shop')
  expect((await home.ended('quay-shop', id)).status).toBe('ready')

  await desk.goto(`${home.platform.dashboard_url}projects/quay-shop`)
  await desk.getByRole('button', { name: 'More actions' }).click()
  await desk.getByRole('menuitem', { name: 'Promote…' }).click()
  await expect(dialog(desk).getByRole('radio', { name: /Berth/ })).toBeChecked()
  await expect(dialog(desk).getByLabel('Project there')).toHaveValue('quay-shop')
  await expect(dialog(desk).getByText('No project has this slug. A new project is created.')).toBeVisible()
  await expect(dialog(desk).getByRole('region', { name: 'What is promoted' })).toContainText('First')
  await expect(row(desk, 'Root directory').getByRole('cell')).toHaveText(['apps/web', '.'])
  await expect(row(desk, 'Memory').getByRole('cell')).toHaveText(['768 MB', '512 MB'])
  await expect(dialog(desk).getByRole('columnheader', { name: 'Berth (a new project)' })).toBeVisible()
  await expect(dialog(desk).getByText('6 other settings are the same.')).toBeVisible()
  await expect(row(desk, 'API_TOKEN').getByRole('cell')).toHaveText(['production and previews', 'not there'])
  await expect(row(desk, 'MODE').getByRole('cell')).toHaveText(['production', 'not there'])
  // Values go nowhere unless somebody says so.
  for (const key of ['API_TOKEN', 'TIDES', 'MODE']) await expect(dialog(desk).getByRole('checkbox', { name: key })).not.toBeChecked()
  await hidesValues(desk)
  await expectForEverybody(desk, 'promote to a new project')
  await dialog(desk).getByRole('checkbox', { name: 'API_TOKEN' }).check()
  await dialog(desk).getByRole('button', { name: 'Promote to Berth' }).click()

  await expect(desk).toHaveURL(new RegExp(`${on.replace(/^https?:/, '')}projects/quay-shop/deployments/dpl_`))
  await hidesValues(desk)
  await expect(desk.locator('.report-head').getByText('Ready', { exact: true })).toBeVisible()
  await expect(desk.locator('.report-message')).toContainText('First')
  expect((await there.edge('quay-shop.localhost')).body).toContain('Hello from the quay')
  expect(await there.project('quay-shop')).toMatchObject({ name: 'Quay shop', root_directory: 'apps/web', memory_limit_mb: 768, repo_url: null })
  expect(await variables(there, 'quay-shop')).toEqual([{ key: 'API_TOKEN', value: secrets[0], environment: null }])
  expect(await deployments(there, 'quay-shop')).toHaveLength(1)
})

test('again, to the project that is there: one build, with what was chosen, and what is there stays', async ({ desk, home, berth, repository }) => {
  const { there } = berth
  const source = repository(app('Second voyage'))
  await home.api('PATCH', '/v1/projects/quay-shop', { root_directory: '.', repo_url: source.url, build_command: 'node build.js' })
  await add(there, 'quay-shop', [
    { key: 'MODE', value: secrets[1] ?? '' },
    { key: 'ONLY_THERE', value: secrets[1] ?? '', environment: 'preview' },
  ])
  await expect.poll(async () => (await deployments(there, 'quay-shop')).every(({ status }) => status === 'ready')).toBe(true)
  await home.ended('quay-shop', (await home.deploy('quay-shop')).id)
  const before = await deployments(there, 'quay-shop')

  await desk.goto(`${home.platform.dashboard_url}projects/quay-shop`)
  await desk.getByRole('region', { name: 'Live' }).getByRole('link', { name: 'Promote…' }).click()
  await expect(dialog(desk).getByText('quay-shop exists (“Quay shop”, live). It gets a new deployment.')).toBeVisible()
  await expect(row(desk, 'Root directory').getByRole('cell')).toHaveText(['.', 'apps/web'])
  await expect(row(desk, 'Build command').getByRole('cell')).toHaveText(['node build.js', 'found in the source'])
  await expect(row(desk, 'MODE').getByRole('cell')).toHaveText(['production', 'production and previews'])
  await expect(row(desk, 'MODE').getByRole('checkbox')).toHaveCount(0)
  await expect(row(desk, 'ONLY_THERE').getByRole('cell')).toHaveText(['not there', 'previews (kept)'])
  await expect(dialog(desk).getByText('One other name is the same.')).toBeVisible()
  await hidesValues(desk)
  await expectForEverybody(desk, 'promote to a project that is there')
  await dialog(desk).getByRole('checkbox', { name: 'TIDES' }).check()
  await dialog(desk).getByRole('checkbox', { name: 'Build command' }).uncheck()
  await dialog(desk).getByRole('button', { name: 'Promote to Berth' }).click()

  await expect(desk).toHaveURL(/\/on\/.*\/projects\/quay-shop\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect((await there.edge('quay-shop.localhost')).body).toContain('Second voyage')
  expect(await there.project('quay-shop')).toMatchObject({ root_directory: '.', build_command: 'auto', repo_url: null })
  expect(await variables(there, 'quay-shop')).toEqual([
    { key: 'API_TOKEN', value: secrets[0], environment: null },
    { key: 'MODE', value: secrets[1], environment: null },
    { key: 'TIDES', value: 'high', environment: null },
    { key: 'ONLY_THERE', value: secrets[1], environment: 'preview' },
  ])
  // The variable would have begun a build of the old source: that one never served.
  const after = (await deployments(there, 'quay-shop')).slice(0, -before.length)
  expect(after.map(({ trigger }) => trigger)).toEqual(['upload', 'env_change'])
  expect(after[0]?.status).toBe('ready')
  // With the new settings the old source may have failed before it could be canceled.
  expect(['canceled', 'failed']).toContain(after[1]?.status)
})

test('a project of another instance is pulled to this machine', async ({ desk, home, berth }) => {
  await home.createProject({ slug: 'anchor' })
  await home.api('DELETE', '/v1/projects/quay-shop')
  await desk.goto(home.platform.dashboard_url)
  await desk.getByRole('button', { name: 'New project' }).first().click()
  await dialog(desk).getByRole('button', { name: 'From another instance…' }).click()
  await expect(dialog(desk).getByRole('radio', { name: /Berth/ })).toBeChecked()
  await dialog(desk).getByLabel('Project there').fill('quay-shop')
  await expectForEverybody(desk, 'a project from another instance')
  await dialog(desk).getByRole('button', { name: 'Next' }).click()
  await expect(desk).toHaveURL(`${berth.on}projects/quay-shop?do=pull`)
  await expect(dialog(desk).getByRole('heading', { name: 'Pull Quay shop to this machine', exact: true })).toBeVisible()
  await expect(dialog(desk).getByRole('radio', { name: /This machine/ })).toBeChecked()
  await expect(row(desk, 'Memory').getByRole('cell')).toHaveText(['768 MB', '512 MB'])
  await hidesValues(desk)
  await expectForEverybody(desk, 'pull')
  await dialog(desk)
    .getByRole('button', { name: /Choose all 4/ })
    .click()
  await dialog(desk).getByRole('button', { name: 'Pull to this machine' }).click()
  await expect(desk).toHaveURL(/\/app\/projects\/quay-shop\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect((await home.edge('quay-shop.localhost')).body).toContain('Second voyage')
  expect(await variables(home, 'quay-shop')).toEqual(await variables(berth.there, 'quay-shop'))
})

test('canceled in the middle of the upload it leaves nothing there; a project that was there is as it was', async ({ desk, home, berth }) => {
  const { there } = berth
  await home.createProject({ slug: 'cargo', name: 'Cargo' })
  // A build waits for as long as this file is there.
  const shut = gateIn(there.data_dir, 'shut')
  const build = `const looking = setInterval(() => require('node:fs').existsSync(${JSON.stringify(shut)}) || clearInterval(looking), 50)`
  const files = Object.entries(app('Cargo', build)).map(([name, data]) => ({ name, data }))
  await upload(home, 'cargo', tgzOf([...files, { name: 'cargo.bin', data: randomBytes(6 * 2 ** 20) }]))
  await add(home, 'cargo', [{ key: 'CRANE', value: secrets[0] ?? '' }])
  await expect.poll(async () => (await deployments(home, 'cargo')).every(({ finished_at }) => finished_at !== null)).toBe(true)
  const throttle = await slowLine(desk)
  const begin = async () => {
    await desk.goto(`${home.platform.dashboard_url}projects/cargo?do=promote`)
    await dialog(desk).getByRole('checkbox', { name: 'CRANE' }).check()
    await throttle(200_000)
    await dialog(desk).getByRole('button', { name: 'Promote to Berth' }).click()
    await expect(plate(desk).getByRole('progressbar', { name: 'Uploading to Berth' })).toBeVisible()
  }

  await begin()
  await expect(plate(desk)).toContainText(/left/)
  await expectForEverybody(desk, 'a promotion under way')
  // It goes on while one looks elsewhere.
  await desk.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Projects' }).click()
  await expect(plate(desk).getByRole('listitem').filter({ hasText: 'Variables' })).toContainText('1 added')
  await hidesValues(desk)
  expect((await there.project('cargo')).status).toBe('created')
  await plate(desk).getByRole('button', { name: 'Cancel' }).click()
  await expect(plate(desk)).toBeHidden()
  await expect.poll(async () => (await there.api('GET', '/v1/projects/cargo')).status).toBe(404)

  await throttle(-1)
  await there.createProject({ slug: 'cargo', name: 'Old cargo' })
  await there.api('PATCH', '/v1/projects/cargo', { memory_limit_mb: 256 })
  await upload(there, 'cargo', tgzOf(files))
  const before = await deployments(there, 'cargo')
  // What the variable begins there is under way when it is canceled, however long that takes.
  writeFileSync(shut, '')
  await begin()
  expect(await there.project('cargo')).toMatchObject({ name: 'Cargo', memory_limit_mb: 512 })
  await plate(desk).getByRole('button', { name: 'Cancel' }).click()
  await expect(plate(desk)).toBeHidden()
  expect(await there.project('cargo')).toMatchObject({ name: 'Old cargo', memory_limit_mb: 256, status: 'live' })
  expect(await variables(there, 'cargo')).toEqual([])
  const after = (await deployments(there, 'cargo')).slice(0, -before.length)
  expect(after.filter(({ status }) => status !== 'canceled')).toEqual([])
  rmSync(shut)
  await throttle(-1)
})

test('a page that was closed in the middle offers to go on from there', async ({ desk, home, berth }) => {
  const { there } = berth
  await home.createProject({ slug: 'ballast', name: 'Ballast' })
  const files = Object.entries(app('Ballast')).map(([name, data]) => ({ name, data }))
  await add(home, 'ballast', [{ key: 'CRANE', value: secrets[0] ?? '' }])
  await upload(home, 'ballast', tgzOf([...files, { name: 'ballast.bin', data: randomBytes(2 * 2 ** 20) }]))
  const cut = desk.getByRole('region', { name: 'ballast to Berth' })
  desk.on('dialog', (asked) => void asked.accept())
  const throttle = await slowLine(desk)
  await desk.goto(`${home.platform.dashboard_url}projects/ballast?do=promote`)
  await dialog(desk).getByRole('checkbox', { name: 'CRANE' }).check()
  await throttle(50_000)
  await dialog(desk).getByRole('button', { name: 'Promote to Berth' }).click()
  await expect(cut.getByRole('progressbar', { name: 'Uploading to Berth' })).toBeVisible()

  await desk.goto(`${home.platform.dashboard_url}projects/ballast`)
  await throttle(-1)
  await expect(cut).toContainText('The page was closed while this was under way. Done already: project, variables.')
  expect(await desk.evaluate(() => JSON.stringify(localStorage))).not.toContain(secrets[0])
  await expectForEverybody(desk, 'a promotion that was cut')
  await cut.getByRole('button', { name: 'Go on' }).click()
  await expect(desk).toHaveURL(/\/on\/.*\/projects\/ballast\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect(await variables(there, 'ballast')).toEqual([{ key: 'CRANE', value: secrets[0], environment: null }])
  expect(await deployments(there, 'ballast')).toHaveLength(1)
  await expect.poll(() => desk.evaluate(() => localStorage.getItem('homeport.promotions'))).toBe('[]')
})

test('what was made there without anybody hearing of it is taken back by the next page', async ({ desk, home, berth }) => {
  const { there } = berth
  await there.api('DELETE', '/v1/projects/ballast')
  await desk.route('**/remote/*/v1/projects', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    await route.fetch()
    await route.abort()
  })
  const cut = desk.getByRole('region', { name: 'ballast to Berth' })
  await desk.goto(`${home.platform.dashboard_url}projects/ballast?do=promote`)
  await dialog(desk).getByRole('button', { name: 'Promote to Berth' }).click()
  await expect(cut.getByRole('alert')).toBeVisible()
  expect((await there.api('GET', '/v1/projects/ballast')).status).toBe(200)
  await desk.unroute('**/remote/*/v1/projects')
  await desk.goto(`${home.platform.dashboard_url}projects/ballast`)
  await expect(cut).toContainText('The page was closed while this was under way. Go on from here')
  await cut.getByRole('button', { name: 'Give up' }).click()
  await expect(cut).toBeHidden()
  expect((await there.api('GET', '/v1/projects/ballast')).status).toBe(404)
})

test('a failure on the way says where it is, and the next try goes on from there; giving up takes it back', async ({ desk, home, berth }) => {
  const { there } = berth
  await there.api('DELETE', '/v1/projects/cargo')
  let sources = 0
  desk.on('request', (request) => request.url().endsWith('/source') && sources++)
  await desk.route('**/v1/projects/cargo/upload*', (route) => route.abort())
  const begin = async () => {
    await desk.goto(`${home.platform.dashboard_url}projects/cargo?do=promote`)
    await dialog(desk).getByRole('checkbox', { name: 'CRANE' }).check()
    await dialog(desk).getByRole('button', { name: 'Promote to Berth' }).click()
    await expect(plate(desk).getByRole('alert')).toBeVisible()
  }
  await begin()
  await expect(plate(desk)).toContainText('Upload: this did not work. Done already: the source is fetched, project (made), variables (1 added).')
  await expectForEverybody(desk, 'a promotion that failed')
  await hidesValues(desk)
  await plate(desk).getByRole('button', { name: 'Give up' }).click()
  await expect(plate(desk)).toBeHidden()
  expect((await there.api('GET', '/v1/projects/cargo')).status).toBe(404)

  await begin()
  await desk.unroute('**/v1/projects/cargo/upload*')
  await plate(desk).getByRole('button', { name: 'Try again' }).click()
  await expect(desk).toHaveURL(/\/on\/.*\/projects\/cargo\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect(sources).toBe(2)
  expect(await variables(there, 'cargo')).toEqual([{ key: 'CRANE', value: secrets[0], environment: null }])

  // What nothing has any more is said before anything is made there.
  await desk.route('**/source', (route) =>
    route.fulfill({
      status: 404,
      json: { error: 'source_not_found', message: 'The archive is no longer kept. Upload it again.', request_id: 'req_1' },
    }),
  )
  await desk.goto(`${home.platform.dashboard_url}projects/cargo?do=promote`)
  await dialog(desk).getByLabel('Project there').fill('cargo-two')
  await dialog(desk).getByRole('button', { name: 'Promote to Berth' }).click()
  await expect(plate(desk).getByRole('alert')).toContainText('The archive is no longer kept.')
  expect((await there.api('GET', '/v1/projects/cargo-two')).status).toBe(404)
  await plate(desk).getByRole('button', { name: 'Give up' }).click()
})

test('a hosted service has the operations of /v1 alone: to it everything goes, from it what has a git address', async ({
  desk,
  home,
  berth,
  repository,
}) => {
  const { there, on } = berth
  await desk.route('**/remote/*/instance/**', (route) =>
    route.fulfill({ status: 404, json: { error: 'route_not_found', message: 'There is nothing at this address.', request_id: 'req_1' } }),
  )
  await desk.goto(`${home.platform.dashboard_url}projects/cargo?do=promote`)
  await dialog(desk).getByLabel('Project there').fill('hosted-cargo')
  await dialog(desk).getByRole('checkbox', { name: 'CRANE' }).check()
  await dialog(desk).getByRole('button', { name: 'Promote to Berth' }).click()
  await expect(desk).toHaveURL(/\/projects\/hosted-cargo\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect(await variables(there, 'hosted-cargo')).toEqual([{ key: 'CRANE', value: secrets[0], environment: null }])

  // It has no git address, and gives no source away.
  await desk.goto(`${on}projects/hosted-cargo?do=pull`)
  await expect(dialog(desk).getByRole('alert')).toContainText('Berth gives away no sources, and this project has no git address')
  await expect(dialog(desk).getByRole('button', { name: 'Pull to this machine' })).toBeDisabled()

  const source = repository(app('From its repository'))
  await there.createProject({ slug: 'hosted-git', name: 'Hosted git', repo_url: source.url })
  await add(there, 'hosted-git', [{ key: 'LAMP', value: secrets[1] ?? '' }])
  await desk.goto(`${on}projects/hosted-git?do=pull`)
  await expect(dialog(desk).getByRole('region', { name: 'What is pulled' })).toContainText(`The head of main of ${source.url}`)
  await dialog(desk).getByRole('checkbox', { name: 'LAMP' }).check()
  await expectForEverybody(desk, 'pull from a hosted service')
  await dialog(desk).getByRole('button', { name: 'Pull to this machine' }).click()
  await expect(desk).toHaveURL(/\/app\/projects\/hosted-git\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready', { exact: true })).toBeVisible()
  expect((await home.edge('hosted-git.localhost')).body).toContain('From its repository')
  expect(await home.project('hosted-git')).toMatchObject({ repo_url: source.url, repo_branch: 'main' })
  expect(await variables(home, 'hosted-git')).toEqual([{ key: 'LAMP', value: secrets[1], environment: null }])
})
