import { startTestPlatform } from '../support/platform.ts'
import { createTarGz } from '../support/archives.ts'
import { greetingAppFiles, expect, test, uploadArchive } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

test('without a session the page explains how to sign in, and the link signs in', async ({ page, platform }) => {
  await page.goto(`${platform.handle.dashboard_url}instance`)
  await expect(page.getByRole('heading', { name: 'Sign in to Homeport', exact: true })).toBeVisible()
  await expect(page.getByText('npx homeport open')).toBeVisible()
  await page.getByRole('button', { name: 'I have opened the link' }).click()
  await expect(page.getByText('not signed in yet')).toBeVisible()

  const other = await page.context().newPage()
  await signIn(other, await platform.handle.signInUrl())
  await other.close()
  await page.getByRole('button', { name: 'I have opened the link' }).click()
  await expect(page.getByRole('heading', { name: 'Instance', level: 1 })).toBeVisible()
})

test('the page contains no token, and its policy is enforced', async ({ dashboard, platform }) => {
  const response = await dashboard.goto(platform.handle.dashboard_url)
  expect(response?.headers()['content-security-policy']).toContain("default-src 'self'")
  const complaints: string[] = []
  dashboard.on(
    'console',
    (message) => /Content Security Policy|Refused|'(script|style|default)-src'/.test(message.text()) && complaints.push(message.text()),
  )
  await expect(dashboard.getByRole('main')).toBeVisible()
  await dashboard.keyboard.press('ControlOrMeta+k')
  await expect(dashboard.getByRole('dialog')).toBeVisible()
  expect(complaints).toEqual([])
  const kept = await dashboard.evaluate(
    () => [localStorage, sessionStorage].flatMap((one) => Object.entries(one)).join() + document.cookie + document.documentElement.outerHTML,
  )
  expect(kept).not.toContain(platform.handle.instance.token)
  expect(kept).not.toContain('svc_')
})

test('a page whose script failed to load reloads once', async ({ dashboard, platform }) => {
  let lost = 0
  await dashboard.route('**/assets/index-*.js', (route) => (lost++ === 0 ? route.abort('failed') : route.continue()))
  await dashboard.goto(platform.handle.dashboard_url)
  await expect(dashboard.getByRole('heading', { level: 1 })).toBeVisible()
  expect(lost).toBe(2)
})

test('a stylesheet that failed to load is requested again', { tag: '@full' }, async ({ dashboard, platform }) => {
  let lost = 0
  await dashboard.route('**/assets/button-*.css', (route) => (lost++ === 0 ? route.abort('failed') : route.continue()))
  await dashboard.goto(platform.handle.dashboard_url)
  await expect(dashboard.locator('.icon-button').first()).toHaveCSS('width', '32px')
  expect(lost).toBe(2)
})

test('an upload is named by its archive and redeployed from the palette', { tag: '@full' }, async ({ dashboard, platform }) => {
  await platform.createProject({ slug: 'ferry', name: 'Ferry' })
  await uploadArchive(platform, 'ferry', createTarGz([{ name: 'index.html', data: '<h1>Ferry</h1>' }]), 'ferry.tar.gz')
  await dashboard.goto(`${platform.handle.dashboard_url}projects/ferry/deployments`)
  await expect(dashboard.getByText('ferry.tar.gz #1')).toBeVisible()
  await expect(dashboard.getByText('14 B')).toBeVisible()
  await dashboard.keyboard.press('ControlOrMeta+k')
  await dashboard.keyboard.type('redeploy')
  await dashboard.getByRole('option', { name: 'Redeploy' }).click()
  await expect(dashboard).toHaveURL(/deployments\/dpl_/)
  await expect(dashboard.getByText('ferry.tar.gz #2').first()).toBeVisible()
  await dashboard.goto(platform.handle.dashboard_url)
  await expect(dashboard.getByRole('heading', { name: 'Projects', exact: true })).toBeVisible()
  await dashboard.keyboard.press('ControlOrMeta+k')
  const search = dashboard.getByRole('combobox', { name: 'Search or run a command' })
  await expect(search).toBeFocused()
  await search.fill('ferry redeploy')
  await dashboard.getByRole('option', { name: 'Ferry Redeploy' }).click()
  await expect(dashboard.getByText('ferry.tar.gz #3').first()).toBeVisible()
})

test('the command palette goes anywhere by keyboard', { tag: '@full' }, async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'lighthouse', name: 'Lighthouse', repo_url: createRepository(greetingAppFiles('light')).url })
  await platform.createProject({ slug: 'lightship', name: 'Lightship' })
  await expect(dashboard.getByRole('link', { name: 'Lightship' }).first()).toBeVisible()
  const palette = dashboard.getByRole('dialog', { name: 'Search or run a command' })
  const open = async () => {
    await dashboard.keyboard.press('ControlOrMeta+k')
    await expect(palette.getByRole('combobox')).toBeFocused()
  }
  await open()
  await dashboard.keyboard.type('lightship again')
  await expect(palette).toContainText('No results for “lightship again”.')
  await expect(palette.getByText('In projects')).toBeHidden()
  await dashboard.keyboard.press('ControlOrMeta+a')
  await dashboard.keyboard.type('lighth')
  await expect(palette.getByRole('option')).toHaveCount(1)
  await dashboard.keyboard.press('Enter')
  await expect(dashboard).toHaveURL(/\/projects\/lighthouse$/)
  await expect(palette).toBeHidden()

  // Actions of a project are found once it is loaded.
  await expect(dashboard.getByRole('heading', { level: 1 })).toHaveText('Lighthouse')
  await open()
  await dashboard.keyboard.type('logs')
  await dashboard.keyboard.press('Enter')
  await expect(dashboard).toHaveURL(/\/projects\/lighthouse\/logs$/)

  await open()
  await dashboard.keyboard.type('theme dark')
  await dashboard.keyboard.press('Enter')
  await expect(dashboard.locator('html')).toHaveAttribute('data-theme', 'dark')
  await dashboard.reload()
  await expect(dashboard.locator('html')).toHaveAttribute('data-theme', 'dark')
  await expect(dashboard.getByRole('heading', { level: 1 })).toHaveText('Lighthouse')

  await open()
  await dashboard.keyboard.type('new project')
  await dashboard.keyboard.press('Enter')
  await expect(dashboard.getByRole('dialog', { name: 'New project' })).toBeVisible()
  await dashboard.keyboard.press('Escape')
})

test('every control is reachable with Tab and shows its focus', { tag: '@full' }, async ({ dashboard, platform }) => {
  await platform.createProject({ slug: 'tabbed', name: 'Tabbed' })
  await dashboard.goto(platform.handle.dashboard_url)
  await expect(dashboard.getByRole('list', { name: 'Projects' })).toContainText('Tabbed')
  const reached = new Set<string>()
  for (let step = 0; step < 40; step++) {
    await dashboard.keyboard.press('Tab')
    const { name, seen } = await dashboard.evaluate(() => {
      const element = document.activeElement
      const style =
        element &&
        [element, ...['::after'].map((part) => part)].map((one) => (typeof one === 'string' ? getComputedStyle(element, one) : getComputedStyle(one)))
      return {
        name: element?.getAttribute('aria-label') ?? element?.textContent ?? '',
        seen: style?.some(({ outlineStyle }) => outlineStyle !== 'none') ?? false,
      }
    })
    if (name !== '' && name.length < 80) {
      reached.add(name.trim())
      expect(seen, `focus on “${name}” is visible`).toBe(true)
    }
  }
  for (const name of ['Skip to content', 'Instance', 'New project', 'Search projects', 'Tabbed']) expect([...reached]).toContain(name)
})

test('settings are saved, and errors are shown at their field', { tag: '@full' }, async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'tuned', name: 'Tuned', repo_url: createRepository(greetingAppFiles('tuned')).url })
  await platform.waitForEnd('tuned', (await platform.deploy('tuned')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/tuned/settings`)
  const save = dashboard.getByRole('button', { name: 'Save', exact: true })
  await expect(save).toBeDisabled()
  await expect(dashboard.getByLabel('Build command')).toHaveAttribute('placeholder', 'Detected (Node.js)')

  await dashboard.getByLabel('Root directory').fill('../elsewhere')
  await save.click()
  await expect(dashboard.getByRole('alert')).toBeVisible()
  await expect(dashboard.getByLabel('Root directory')).toHaveAttribute('aria-invalid', 'true')
  await dashboard.getByRole('button', { name: 'Discard' }).click()
  await expect(dashboard.getByLabel('Root directory')).toHaveValue('.')

  await dashboard.getByLabel('Name', { exact: true }).fill('Tuned well')
  await dashboard.getByLabel('Memory (MB)').fill('256')
  await dashboard.getByRole('switch', { name: 'Always warm' }).click()
  await save.click()
  await expect(dashboard.getByRole('heading', { name: 'Tuned well', exact: true })).toBeVisible()
  await expect(dashboard.getByRole('button', { name: 'Redeploy' })).toBeVisible()
  const project = await platform.getProject('tuned')
  expect(project).toMatchObject({ name: 'Tuned well', memory_limit_mb: 256, always_warm: true })
})

test('a lost connection is reported, and recovers by itself', { tag: '@full' }, async ({ page }) => {
  // Not an ephemeral port, which another process would get while nothing listens there.
  const first = await startTestPlatform({ runtime: 'process', port: 21_300 })
  const port = Number(new URL(first.handle.api_url).port)
  await signIn(page, await first.handle.signInUrl())
  await expect(page.getByRole('heading', { name: 'Deploy your first app', exact: true })).toBeVisible()
  await first.handle.stop()
  await expect(page.getByText('Connection to Homeport lost.')).toBeVisible()

  const second = await startTestPlatform({ runtime: 'process', data_dir: first.data_dir, port })
  await expect(page.getByText('Connection to Homeport lost.')).toBeHidden()
  await second.createProject({ slug: 'healed', name: 'Healed' })
  await expect(page.getByRole('list', { name: 'Projects' })).toContainText('Healed')
  await second.remove()
})
