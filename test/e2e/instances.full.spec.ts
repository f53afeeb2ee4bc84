import type { Page } from '@playwright/test'
import { startTestPlatform } from '../support/platform.ts'
import { addInstance, startHostedAccountProxy, createToken } from './remote-instances.ts'
import { greetingAppFiles, expect, expectAccessible, test } from './fixtures.ts'

const bar = (dashboard: Page) => dashboard.getByRole('region', { name: 'Remote instance' })
const rail = (dashboard: Page) => dashboard.getByRole('navigation', { name: 'Main' })

test('another instance is added by URL and token, deployed to, and never mixes with this one', async ({
  dashboard,
  platform,
  startSecondPlatform,
  createRepository,
}) => {
  const remote = await startSecondPlatform()
  await platform.createProject({ slug: 'home-brew', name: 'Home brew' })
  await remote.createProject({ slug: 'far-shop', name: 'Far shop', repo_url: createRepository(greetingAppFiles('far')).url })
  const { token } = await createToken(remote)

  await dashboard.goto(`${platform.handle.dashboard_url}instances`)
  await expectAccessible(dashboard, 'one instance')
  await dashboard.getByRole('button', { name: 'Add instance' }).click()
  const dialog = dashboard.getByRole('dialog', { name: 'Add instance' })
  await dialog.getByLabel('URL').fill(remote.handle.api_url)
  await dialog.getByLabel('API token').fill('svc_of-somebody-else')
  await dialog.getByRole('button', { name: 'Add instance' }).click()
  await expect(dialog.getByLabel('API token')).toHaveAttribute('aria-invalid', 'true')
  await dialog.getByLabel('URL').fill('http://127.0.0.1:9')
  await dialog.getByRole('button', { name: 'Add instance' }).click()
  await expect(dialog.getByLabel('URL')).toHaveAttribute('aria-invalid', 'true')
  await expectAccessible(dashboard, 'an instance that does not answer')
  const instancePath = await addInstance(dashboard, platform, { url: remote.handle.api_url, token, name: 'Quay' })
  expect(instancePath).toMatch(/^\/app\/on\/[\w-]+\/$/)

  // From here on the page does not need the token, and does not have it.
  const seen: string[] = []
  dashboard.on('request', (request) => seen.push(request.url(), request.postData() ?? '', JSON.stringify(request.headers())))
  const row = dashboard.getByRole('list', { name: 'Instances' }).getByRole('listitem').filter({ hasText: 'Quay' })
  await expect(row).toContainText('Online')
  await expect(row).toContainText('Homeport')
  await expectAccessible(dashboard, 'two instances')

  await dashboard.keyboard.press('Control+Shift+2')
  await expect(dashboard).toHaveURL(new RegExp(`${instancePath}$`))
  await expect(bar(dashboard)).toContainText('Quay')
  await expect(dashboard).toHaveTitle(/Quay/)
  await expect(dashboard.locator('#favicon')).toHaveAttribute('href', /^data:image/)
  await expect(dashboard.getByRole('link', { name: 'Far shop' }).first()).toBeVisible()
  await expect(dashboard.locator('body')).not.toContainText('Home brew')
  await expectAccessible(dashboard, 'another instance in front')

  await dashboard.getByRole('link', { name: 'Far shop' }).first().click()
  await dashboard.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(dashboard).toHaveURL(new RegExp(`${instancePath}projects/far-shop/deployments/`))
  await expect(dashboard.getByRole('region', { name: /^Build log, / })).toContainText('compiled far')
  await expect(dashboard.getByRole('main')).toContainText('Ready')
  const deployment = dashboard.url()
  await dashboard.reload()
  await expect(bar(dashboard)).toContainText('Quay')
  await expect(dashboard.getByRole('region', { name: /^Build log, / })).toContainText('compiled far')
  expect(dashboard.url()).toBe(deployment)

  await dashboard.goto(`${new URL(instancePath, platform.handle.dashboard_url).href}projects/far-shop/logs`)
  await expect(dashboard.getByText('far listens')).toBeVisible()
  await remote.fetchEdge('far-shop.localhost', '/hello-from-afar')
  await expect(dashboard.getByText('/hello-from-afar')).toBeVisible()

  await dashboard.keyboard.press('Control+Shift+1')
  await expect(dashboard).toHaveURL(/\/app\/$/)
  await expect(dashboard.getByRole('link', { name: 'Home brew' }).first()).toBeVisible()
  await expect(bar(dashboard)).toHaveCount(0)
  await expect(dashboard.locator('body')).not.toContainText(/Far shop|far-shop/)
  await dashboard.goBack()
  await expect(dashboard).toHaveURL(new RegExp(`${instancePath}projects/far-shop/logs$`))
  await expect(bar(dashboard)).toContainText('Quay')
  await expect(dashboard.locator('body')).not.toContainText('Home brew')

  const kept = await dashboard.evaluate(
    () => [localStorage, sessionStorage].flatMap((one) => Object.entries(one)).join() + document.cookie + document.documentElement.outerHTML,
  )
  expect(kept + seen.join('\n')).not.toContain(token)
})

test('late responses appear only on their own instance, and do not navigate', async ({
  dashboard,
  platform,
  startSecondPlatform,
  createRepository,
}) => {
  const remote = await startSecondPlatform()
  await platform.createProject({ slug: 'slow-boat', name: 'Slow boat', repo_url: createRepository(greetingAppFiles('slow')).url })
  await remote.createProject({ slug: 'far-lamp', name: 'Far lamp', repo_url: createRepository(greetingAppFiles('lamp')).url })
  const { token } = await createToken(remote)
  const instancePath = await addInstance(dashboard, platform, { url: remote.handle.api_url, token, name: 'Quay' })
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  await dashboard.route('**/remote/*/v1/**', async (route) => {
    await held
    await route.continue().catch(() => undefined)
  })
  await dashboard.goto(new URL(instancePath, platform.handle.dashboard_url).href)
  await expect(bar(dashboard)).toContainText('Quay')
  await dashboard.keyboard.press('Control+Shift+1')
  await expect(dashboard.getByRole('link', { name: 'Slow boat' }).first()).toBeVisible()
  letGo()
  await dashboard.unrouteAll({ behavior: 'wait' })
  await expect(dashboard.locator('body')).not.toContainText('Far lamp')

  // A deployment is requested, and the other instance is opened before the response.
  await dashboard.goto(`${new URL(instancePath, platform.handle.dashboard_url).href}projects/far-lamp`)
  let answered = () => {}
  const requested = new Promise<void>((resolve) => (answered = resolve))
  let go = () => {}
  const released = new Promise<void>((resolve) => (go = resolve))
  await dashboard.route('**/remote/*/v1/projects/far-lamp/deploy', async (route) => {
    answered()
    await released
    await route.continue()
  })
  await dashboard.getByRole('button', { name: 'Deploy', exact: true }).click()
  await requested
  await dashboard.keyboard.press('Control+Shift+1')
  await expect(dashboard.getByRole('link', { name: 'Slow boat' }).first()).toBeVisible()
  const done = dashboard.waitForResponse(/far-lamp\/deploy$/)
  go()
  await (await done).finished()
  await expect(dashboard.getByRole('link', { name: 'Slow boat' }).first()).toBeVisible()
  expect(new URL(dashboard.url()).pathname).toBe('/app/')
  await expect(dashboard.locator('body')).not.toContainText('Far lamp')
})

test('a revoked token of a remote is asked for again, in place', async ({ dashboard, platform, startSecondPlatform }) => {
  const remote = await startSecondPlatform()
  await remote.createProject({ slug: 'far-well', name: 'Far well' })
  const old = await createToken(remote, 'old')
  const instancePath = await addInstance(dashboard, platform, { url: remote.handle.api_url, token: old.token, name: 'Quay' })
  await dashboard.goto(`${new URL(instancePath, platform.handle.dashboard_url).href}projects/far-well`)
  await expect(dashboard.getByRole('heading', { level: 1 })).toHaveText('Far well')
  await remote.api('DELETE', `/v1/tokens/${old.id}`)
  await expect(dashboard.getByRole('heading', { name: 'New token for Quay', exact: true })).toBeVisible()
  await expect(dashboard.getByRole('heading', { name: 'Sign in to Homeport', exact: true })).toHaveCount(0)
  await expectAccessible(dashboard, 'a token is asked for')
  await dashboard.getByLabel('API token').fill('svc_wrong')
  await dashboard.getByRole('button', { name: 'Continue' }).click()
  await expect(dashboard.getByLabel('API token')).toHaveAttribute('aria-invalid', 'true')
  await dashboard.getByLabel('API token').fill((await createToken(remote, 'new')).token)
  await dashboard.getByRole('button', { name: 'Continue' }).click()
  await expect(dashboard.getByRole('heading', { level: 1 })).toHaveText('Far well')
  await expect(dashboard).toHaveURL(/\/projects\/far-well$/)
})

test('an instance that stops is reported, and recovers by itself', async ({ dashboard, platform }) => {
  const first = await startTestPlatform({ runtime: 'process' })
  await first.createProject({ slug: 'buoy', name: 'Buoy' })
  const { token } = await createToken(first)
  const port = Number(new URL(first.handle.api_url).port)
  const instancePath = await addInstance(dashboard, platform, { url: first.handle.api_url, token, name: 'Skerry' })
  await dashboard.goto(new URL(instancePath, platform.handle.dashboard_url).href)
  await expect(dashboard.getByRole('link', { name: 'Buoy' }).first()).toBeVisible()
  await first.handle.stop()
  await expect(dashboard.getByText('Skerry is not responding.')).toBeVisible()
  await expect(dashboard.getByRole('link', { name: 'Buoy' }).first()).toBeVisible()
  await expectAccessible(dashboard, 'an instance that is away')
  const second = await startTestPlatform({ runtime: 'process', data_dir: first.data_dir, port })
  await expect(dashboard.getByText('Skerry is not responding.')).toBeHidden()
  await second.createProject({ slug: 'beacon', name: 'Beacon' })
  await expect(dashboard.getByRole('link', { name: 'Beacon' }).first()).toBeVisible()
  await second.remove()
})

test('a hosted account, which has only the customer’s operations, works completely without the rest', async ({
  dashboard,
  platform,
  startSecondPlatform,
  createRepository,
}) => {
  const remote = await startSecondPlatform()
  const account = await startHostedAccountProxy(remote)
  try {
    await remote.createProject({ slug: 'hosted-app', name: 'Hosted app', repo_url: createRepository(greetingAppFiles('hosted')).url })
    await remote.waitForEnd('hosted-app', (await remote.deploy('hosted-app')).id)
    const { token } = await createToken(remote)
    const instancePath = await addInstance(dashboard, platform, { url: account.url, token, name: 'Cloud' })
    await expect(dashboard.getByRole('listitem').filter({ hasText: 'Cloud' })).toContainText('Hosted')
    const at = (path: string) => new URL(instancePath, platform.handle.dashboard_url).href + path
    const missed: string[] = []
    dashboard.on('request', (request) => /\/remote\/[^/]+\/instance/.test(request.url()) && missed.push(new URL(request.url()).pathname))

    await dashboard.goto(at(''))
    await expect(dashboard.getByRole('link', { name: 'Hosted app' }).first()).toBeVisible()
    await expect(rail(dashboard).getByRole('link', { name: 'Instance', exact: true })).toHaveCount(0)
    await expectAccessible(dashboard, 'projects of a hosted account')
    for (const [path, text] of [
      ['projects/hosted-app', 'Current'],
      ['projects/hosted-app/deployments', 'Ready'],
      ['projects/hosted-app/previews', 'No open previews'],
      ['projects/hosted-app/logs', 'hosted listens'],
      ['projects/hosted-app/metrics', 'No requests'],
      ['projects/hosted-app/cache', 'Purge webhook'],
      ['projects/hosted-app/environment', 'variable'],
      ['projects/hosted-app/database', 'No database yet'],
      ['projects/hosted-app/domains', 'hosted-app'],
      ['projects/hosted-app/settings', 'Delete project'],
      ['account', 'API tokens'],
      ['domains', 'Domains'],
      ['instance', 'No details for this instance'],
    ] as const) {
      await dashboard.goto(at(path))
      await expect(dashboard.getByRole('main')).toContainText(text)
      await expect(dashboard.getByRole('alert')).toHaveCount(0)
      await expectAccessible(dashboard, `${path} of a hosted account`)
    }
    // The session and the stream are requested once per page load, and nothing else that it does not have.
    expect([...new Set(missed.map((path) => path.replace(/^\/remote\/[^/]+/, '')))].toSorted()).toEqual(['/instance/events', '/instance/session'])

    await dashboard.goto(at(''))
    await remote.createProject({ slug: 'hosted-news', name: 'Hosted news' })
    await expect(dashboard.getByRole('link', { name: 'Hosted news' }).first()).toBeVisible()
  } finally {
    await account.close()
  }
})

test('names, colors and the list can be edited; an unreachable instance is reported', async ({ dashboard, platform, startSecondPlatform }) => {
  const remote = await startSecondPlatform()
  const { token } = await createToken(remote)
  const instancePath = await addInstance(dashboard, platform, { url: remote.handle.api_url, token, name: 'Quay' })
  const acts = dashboard.getByRole('button', { name: 'Actions for Quay' })
  await acts.click()
  await dashboard.getByRole('menuitem', { name: 'Name and color…' }).click()
  const edit = dashboard.getByRole('dialog', { name: 'Name and color' })
  await edit.getByLabel('Name').fill('North quay')
  await edit.getByText('Green').click()
  await expectAccessible(dashboard, 'name and colour')
  await edit.getByRole('button', { name: 'Save' }).click()
  await expect(dashboard.getByRole('link', { name: 'North quay', exact: true })).toBeVisible()

  await dashboard.keyboard.press('ControlOrMeta+k')
  await expect(dashboard.getByRole('combobox', { name: 'Search or run a command' })).toBeFocused()
  await dashboard.keyboard.type('switch to north')
  await expect(dashboard.getByRole('option')).toHaveCount(1)
  await dashboard.keyboard.press('Enter')
  await expect(bar(dashboard)).toContainText('North quay')
  const other = await dashboard.context().newPage()
  await other.goto(dashboard.url())
  await expect(bar(other)).toContainText('North quay')
  await other.close()
  await dashboard.setViewportSize({ width: 390, height: 844 })
  await expect(dashboard.getByRole('banner')).toContainText('North quay')
  await expect(dashboard.getByRole('banner')).toContainText(new URL(remote.handle.api_url).host)
  await dashboard.setViewportSize({ width: 1280, height: 820 })

  await dashboard.goto(`${platform.handle.dashboard_url}instances`)
  await dashboard.getByRole('button', { name: 'Actions for North quay' }).click()
  await dashboard.getByRole('menuitem', { name: 'Remove…' }).click()
  const remove = dashboard.getByRole('dialog', { name: 'Remove North quay?' })
  await expect(remove).toContainText(new URL(remote.handle.api_url).host)
  await remove.getByRole('textbox').fill('North quay')
  await remove.getByRole('button', { name: 'Remove instance' }).click()
  await expect(dashboard.getByRole('list', { name: 'Instances' }).getByRole('listitem')).toHaveCount(1)
  await dashboard.goto(new URL(instancePath, platform.handle.dashboard_url).href)
  await expect(dashboard.getByRole('heading', { name: 'Instance not found', exact: true })).toBeVisible()
  await expectAccessible(dashboard, 'no such instance')
  await dashboard.getByRole('link', { name: 'Back to this machine' }).click()
  await expect(dashboard).toHaveURL(/\/app\/$/)
})
