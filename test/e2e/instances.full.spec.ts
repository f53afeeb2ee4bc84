import type { Page } from '@playwright/test'
import { startTestPlatform } from '../support/platform.ts'
import { addInstance, hosted, makeToken } from './elsewhere.ts'
import { app, expect, expectForEverybody, test } from './fixtures.ts'

const bar = (desk: Page) => desk.getByRole('region', { name: 'Instance in front' })
const rail = (desk: Page) => desk.getByRole('navigation', { name: 'Main' })

test('another instance is added by address and token, deployed on, and never mixes with this one', async ({ desk, home, startOther, repository }) => {
  const far = await startOther()
  await home.createProject({ slug: 'home-brew', name: 'Home brew' })
  await far.createProject({ slug: 'far-shop', name: 'Far shop', repo_url: repository(app('far')).url })
  const { token } = await makeToken(far)

  await desk.goto(`${home.platform.dashboard_url}instances`)
  await expectForEverybody(desk, 'one instance')
  await desk.getByRole('button', { name: 'Add an instance' }).click()
  const dialog = desk.getByRole('dialog', { name: 'Add an instance' })
  await dialog.getByLabel('Address').fill(far.platform.api_url)
  await dialog.getByLabel('API token').fill('svc_of-somebody-else')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(dialog.getByLabel('API token')).toHaveAttribute('aria-invalid', 'true')
  await dialog.getByLabel('Address').fill('http://127.0.0.1:9')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(dialog.getByLabel('Address')).toHaveAttribute('aria-invalid', 'true')
  await expectForEverybody(desk, 'an instance that does not answer')
  const front = await addInstance(desk, home, { url: far.platform.api_url, token, name: 'Quay' })
  expect(front).toMatch(/^\/app\/on\/[\w-]+\/$/)

  // From here on the page has no use for the token, and does not have it.
  const seen: string[] = []
  desk.on('request', (request) => seen.push(request.url(), request.postData() ?? '', JSON.stringify(request.headers())))
  const row = desk.getByRole('list', { name: 'Instances' }).getByRole('listitem').filter({ hasText: 'Quay' })
  await expect(row).toContainText('Online')
  await expect(row).toContainText('Homeport')
  await expectForEverybody(desk, 'two instances')

  await desk.keyboard.press('Control+Shift+2')
  await expect(desk).toHaveURL(new RegExp(`${front}$`))
  await expect(bar(desk)).toContainText('Quay')
  await expect(desk).toHaveTitle(/Quay/)
  await expect(desk.locator('#favicon')).toHaveAttribute('href', /^data:image/)
  await expect(desk.getByRole('link', { name: 'Far shop' }).first()).toBeVisible()
  await expect(desk.locator('body')).not.toContainText('Home brew')
  await expectForEverybody(desk, 'another instance in front')

  await desk.getByRole('link', { name: 'Far shop' }).first().click()
  await desk.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(desk).toHaveURL(new RegExp(`${front}projects/far-shop/deployments/`))
  await expect(desk.getByRole('region', { name: /^Build log, / })).toContainText('compiled far')
  await expect(desk.getByRole('main')).toContainText('Ready')
  const deployment = desk.url()
  await desk.reload()
  await expect(bar(desk)).toContainText('Quay')
  await expect(desk.getByRole('region', { name: /^Build log, / })).toContainText('compiled far')
  expect(desk.url()).toBe(deployment)

  await desk.goto(`${new URL(front, home.platform.dashboard_url).href}projects/far-shop/logs`)
  await expect(desk.getByText('far listens')).toBeVisible()
  await far.edge('far-shop.localhost', '/hello-from-afar')
  await expect(desk.getByText('/hello-from-afar')).toBeVisible()

  await desk.keyboard.press('Control+Shift+1')
  await expect(desk).toHaveURL(/\/app\/$/)
  await expect(desk.getByRole('link', { name: 'Home brew' }).first()).toBeVisible()
  await expect(bar(desk)).toHaveCount(0)
  await expect(desk.locator('body')).not.toContainText(/Far shop|far-shop/)
  await desk.goBack()
  await expect(desk).toHaveURL(new RegExp(`${front}projects/far-shop/logs$`))
  await expect(bar(desk)).toContainText('Quay')
  await expect(desk.locator('body')).not.toContainText('Home brew')

  const kept = await desk.evaluate(
    () => [localStorage, sessionStorage].flatMap((one) => Object.entries(one)).join() + document.cookie + document.documentElement.outerHTML,
  )
  expect(kept + seen.join('\n')).not.toContain(token)
})

test('answers that come late show nowhere but at home, and lead nobody back', async ({ desk, home, startOther, repository }) => {
  const far = await startOther()
  await home.createProject({ slug: 'slow-boat', name: 'Slow boat', repo_url: repository(app('slow')).url })
  await far.createProject({ slug: 'far-lamp', name: 'Far lamp', repo_url: repository(app('lamp')).url })
  const { token } = await makeToken(far)
  const front = await addInstance(desk, home, { url: far.platform.api_url, token, name: 'Quay' })
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  await desk.route('**/remote/*/v1/**', async (route) => {
    await held
    await route.continue().catch(() => undefined)
  })
  await desk.goto(new URL(front, home.platform.dashboard_url).href)
  await expect(bar(desk)).toContainText('Quay')
  await desk.keyboard.press('Control+Shift+1')
  await expect(desk.getByRole('link', { name: 'Slow boat' }).first()).toBeVisible()
  letGo()
  await desk.unrouteAll({ behavior: 'wait' })
  await expect(desk.locator('body')).not.toContainText('Far lamp')

  // A deployment that is asked for, and the other instance in front before it is answered.
  await desk.goto(`${new URL(front, home.platform.dashboard_url).href}projects/far-lamp`)
  let answered = () => {}
  const asked = new Promise<void>((resolve) => (answered = resolve))
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  await desk.route('**/remote/*/v1/projects/far-lamp/deploy', async (route) => {
    answered()
    await gate
    await route.continue()
  })
  await desk.getByRole('button', { name: 'Deploy', exact: true }).click()
  await asked
  await desk.keyboard.press('Control+Shift+1')
  await expect(desk.getByRole('link', { name: 'Slow boat' }).first()).toBeVisible()
  const done = desk.waitForResponse(/far-lamp\/deploy$/)
  go()
  await (await done).finished()
  await expect(desk.getByRole('link', { name: 'Slow boat' }).first()).toBeVisible()
  expect(new URL(desk.url()).pathname).toBe('/app/')
  await expect(desk.locator('body')).not.toContainText('Far lamp')
})

test('a token that is revoked there is asked for anew, in place', async ({ desk, home, startOther }) => {
  const far = await startOther()
  await far.createProject({ slug: 'far-well', name: 'Far well' })
  const old = await makeToken(far, 'old')
  const front = await addInstance(desk, home, { url: far.platform.api_url, token: old.token, name: 'Quay' })
  await desk.goto(`${new URL(front, home.platform.dashboard_url).href}projects/far-well`)
  await expect(desk.getByRole('heading', { level: 1 })).toHaveText('Far well')
  await far.api('DELETE', `/v1/tokens/${old.id}`)
  await expect(desk.getByRole('heading', { name: 'A new token for Quay', exact: true })).toBeVisible()
  await expect(desk.getByRole('heading', { name: 'Sign in to Homeport', exact: true })).toHaveCount(0)
  await expectForEverybody(desk, 'a token is asked for')
  await desk.getByLabel('API token').fill('svc_wrong')
  await desk.getByRole('button', { name: 'Go on' }).click()
  await expect(desk.getByLabel('API token')).toHaveAttribute('aria-invalid', 'true')
  await desk.getByLabel('API token').fill((await makeToken(far, 'new')).token)
  await desk.getByRole('button', { name: 'Go on' }).click()
  await expect(desk.getByRole('heading', { level: 1 })).toHaveText('Far well')
  await expect(desk).toHaveURL(/\/projects\/far-well$/)
})

test('one that stops is said to, and heals by itself', async ({ desk, home }) => {
  const first = await startTestPlatform({ runtime: 'process' })
  await first.createProject({ slug: 'buoy', name: 'Buoy' })
  const { token } = await makeToken(first)
  const port = Number(new URL(first.platform.api_url).port)
  const front = await addInstance(desk, home, { url: first.platform.api_url, token, name: 'Skerry' })
  await desk.goto(new URL(front, home.platform.dashboard_url).href)
  await expect(desk.getByRole('link', { name: 'Buoy' }).first()).toBeVisible()
  await first.platform.stop()
  await expect(desk.getByText('Skerry does not answer.')).toBeVisible()
  await expect(desk.getByRole('link', { name: 'Buoy' }).first()).toBeVisible()
  await expectForEverybody(desk, 'an instance that is away')
  const second = await startTestPlatform({ runtime: 'process', data_dir: first.data_dir, port })
  await expect(desk.getByText('Skerry does not answer.')).toBeHidden()
  await second.createProject({ slug: 'beacon', name: 'Beacon' })
  await expect(desk.getByRole('link', { name: 'Beacon' }).first()).toBeVisible()
  await second.remove()
})

test('a hosted account, which has the customer’s operations alone, is whole without the rest', async ({ desk, home, startOther, repository }) => {
  const far = await startOther()
  const account = await hosted(far)
  try {
    await far.createProject({ slug: 'hosted-app', name: 'Hosted app', repo_url: repository(app('hosted')).url })
    await far.ended('hosted-app', (await far.deploy('hosted-app')).id)
    const { token } = await makeToken(far)
    const front = await addInstance(desk, home, { url: account.url, token, name: 'Cloud' })
    await expect(desk.getByRole('listitem').filter({ hasText: 'Cloud' })).toContainText('Hosted')
    const at = (path: string) => new URL(front, home.platform.dashboard_url).href + path
    const missed: string[] = []
    desk.on('request', (request) => /\/remote\/[^/]+\/instance/.test(request.url()) && missed.push(new URL(request.url()).pathname))

    await desk.goto(at(''))
    await expect(desk.getByRole('link', { name: 'Hosted app' }).first()).toBeVisible()
    await expect(rail(desk).getByRole('link', { name: 'Instance', exact: true })).toHaveCount(0)
    await expectForEverybody(desk, 'projects of a hosted account')
    for (const [path, text] of [
      ['projects/hosted-app', 'Current'],
      ['projects/hosted-app/deployments', 'Ready'],
      ['projects/hosted-app/previews', 'No open previews'],
      ['projects/hosted-app/logs', 'hosted listens'],
      ['projects/hosted-app/metrics', 'No requests'],
      ['projects/hosted-app/cache', 'Purge from elsewhere'],
      ['projects/hosted-app/environment', 'variable'],
      ['projects/hosted-app/database', 'No database yet'],
      ['projects/hosted-app/domains', 'hosted-app'],
      ['projects/hosted-app/settings', 'Delete this project'],
      ['account', 'API tokens'],
      ['domains', 'Domains'],
      ['instance', 'does not tell about itself'],
    ] as const) {
      await desk.goto(at(path))
      await expect(desk.getByRole('main')).toContainText(text)
      await expect(desk.getByRole('alert')).toHaveCount(0)
      await expectForEverybody(desk, `${path} of a hosted account`)
    }
    // It is asked who one is there, and for the stream, once a page; nothing else that it does not have.
    expect([...new Set(missed.map((path) => path.replace(/^\/remote\/[^/]+/, '')))].toSorted()).toEqual(['/instance/events', '/instance/session'])

    await desk.goto(at(''))
    await far.createProject({ slug: 'hosted-news', name: 'Hosted news' })
    await expect(desk.getByRole('link', { name: 'Hosted news' }).first()).toBeVisible()
  } finally {
    await account.close()
  }
})

test('names, colours and the list are changed; an instance that is not there says so', async ({ desk, home, startOther }) => {
  const far = await startOther()
  const { token } = await makeToken(far)
  const front = await addInstance(desk, home, { url: far.platform.api_url, token, name: 'Quay' })
  const acts = desk.getByRole('button', { name: 'What to do with Quay' })
  await acts.click()
  await desk.getByRole('menuitem', { name: 'Name and colour…' }).click()
  const edit = desk.getByRole('dialog', { name: 'Name and colour' })
  await edit.getByLabel('Name').fill('North quay')
  await edit.getByText('Green').click()
  await expectForEverybody(desk, 'name and colour')
  await edit.getByRole('button', { name: 'Save' }).click()
  await expect(desk.getByRole('link', { name: 'North quay', exact: true })).toBeVisible()

  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('combobox', { name: 'Search or run a command' })).toBeFocused()
  await desk.keyboard.type('switch to north')
  await expect(desk.getByRole('option')).toHaveCount(1)
  await desk.keyboard.press('Enter')
  await expect(bar(desk)).toContainText('North quay')
  const other = await desk.context().newPage()
  await other.goto(desk.url())
  await expect(bar(other)).toContainText('North quay')
  await other.close()
  await desk.setViewportSize({ width: 390, height: 844 })
  await expect(desk.getByRole('banner')).toContainText('North quay')
  await expect(desk.getByRole('banner')).toContainText(new URL(far.platform.api_url).host)
  await desk.setViewportSize({ width: 1280, height: 820 })

  await desk.goto(`${home.platform.dashboard_url}instances`)
  await desk.getByRole('button', { name: 'What to do with North quay' }).click()
  await desk.getByRole('menuitem', { name: 'Remove…' }).click()
  const remove = desk.getByRole('dialog', { name: 'Remove North quay?' })
  await expect(remove).toContainText(new URL(far.platform.api_url).host)
  await remove.getByRole('textbox').fill('North quay')
  await remove.getByRole('button', { name: 'Remove it' }).click()
  await expect(desk.getByRole('list', { name: 'Instances' }).getByRole('listitem')).toHaveCount(1)
  await desk.goto(new URL(front, home.platform.dashboard_url).href)
  await expect(desk.getByRole('heading', { name: 'There is no such instance here', exact: true })).toBeVisible()
  await expectForEverybody(desk, 'no such instance')
  await desk.getByRole('link', { name: 'To this machine' }).click()
  await expect(desk).toHaveURL(/\/app\/$/)
})
