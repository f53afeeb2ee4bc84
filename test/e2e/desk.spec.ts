import { startTestPlatform } from '../support/platform.ts'
import { app, expect, test } from './fixtures.ts'
import { signIn } from './stage.ts'

test('without a session one is told how to sign in; the link does it', async ({ page, home }) => {
  await page.goto(`${home.platform.dashboard_url}instance`)
  await expect(page.getByRole('heading', { name: 'Sign in to Homeport', exact: true })).toBeVisible()
  await expect(page.getByText('npx homeport open')).toBeVisible()
  await page.getByRole('button', { name: 'I have opened the link' }).click()
  await expect(page.getByText('Not yet')).toBeVisible()

  const other = await page.context().newPage()
  await signIn(other, await home.platform.signInUrl())
  await other.close()
  await page.getByRole('button', { name: 'I have opened the link' }).click()
  await expect(page.getByRole('heading', { name: 'Instance', level: 1 })).toBeVisible()
})

test('no token is anywhere in the page, and its policy holds', async ({ desk, home }) => {
  const answer = await desk.goto(home.platform.dashboard_url)
  expect(answer?.headers()['content-security-policy']).toContain("default-src 'self'")
  const complaints: string[] = []
  desk.on('console', (message) => /Content Security Policy|Refused/.test(message.text()) && complaints.push(message.text()))
  await expect(desk.getByRole('main')).toBeVisible()
  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog')).toBeVisible()
  expect(complaints).toEqual([])
  const kept = await desk.evaluate(
    () => [localStorage, sessionStorage].flatMap((one) => Object.entries(one)).join() + document.cookie + document.documentElement.outerHTML,
  )
  expect(kept).not.toContain(home.platform.instance.token)
  expect(kept).not.toContain('svc_')
})

test('a page whose script was lost on its way loads once more', async ({ desk, home }) => {
  let lost = 0
  await desk.route('**/assets/index-*.js', (route) => (lost++ === 0 ? route.abort('failed') : route.continue()))
  await desk.goto(home.platform.dashboard_url)
  await expect(desk.getByRole('heading', { level: 1 })).toBeVisible()
  expect(lost).toBe(2)
})

test('the palette goes anywhere by keyboard', { tag: '@full' }, async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'lighthouse', name: 'Lighthouse', repo_url: repository(app('light')).url })
  await home.createProject({ slug: 'lightship', name: 'Lightship' })
  await expect(desk.getByRole('link', { name: 'Lightship' }).first()).toBeVisible()
  const palette = desk.getByRole('dialog', { name: 'Search or run a command' })
  const open = async () => {
    await desk.keyboard.press('ControlOrMeta+k')
    await expect(palette.getByRole('combobox')).toBeFocused()
  }
  await open()
  await desk.keyboard.type('lighth')
  await expect(palette.getByRole('option')).toHaveCount(1)
  await desk.keyboard.press('Enter')
  await expect(desk).toHaveURL(/\/projects\/lighthouse$/)
  await expect(palette).toBeHidden()

  // What is done with a project is found once that has come.
  await expect(desk.getByRole('heading', { level: 1 })).toHaveText('Lighthouse')
  await open()
  await desk.keyboard.type('logs')
  await desk.keyboard.press('Enter')
  await expect(desk).toHaveURL(/\/projects\/lighthouse\/logs$/)

  await open()
  await desk.keyboard.type('theme dark')
  await desk.keyboard.press('Enter')
  await expect(desk.locator('html')).toHaveAttribute('data-theme', 'dark')
  await desk.reload()
  await expect(desk.locator('html')).toHaveAttribute('data-theme', 'dark')
  await expect(desk.getByRole('heading', { level: 1 })).toHaveText('Lighthouse')

  await open()
  await desk.keyboard.type('new project')
  await desk.keyboard.press('Enter')
  await expect(desk.getByRole('dialog', { name: 'New project' })).toBeVisible()
  await desk.keyboard.press('Escape')
})

test('everything is reached by the tab key, and shows that it is', { tag: '@full' }, async ({ desk, home }) => {
  await home.createProject({ slug: 'tabbed', name: 'Tabbed' })
  await desk.goto(home.platform.dashboard_url)
  await expect(desk.getByRole('list', { name: 'Projects' })).toContainText('Tabbed')
  const reached = new Set<string>()
  for (let step = 0; step < 40; step++) {
    await desk.keyboard.press('Tab')
    const { name, seen } = await desk.evaluate(() => {
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

test('settings are saved, and what is wrong is said at its field', { tag: '@full' }, async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'tuned', name: 'Tuned', repo_url: repository(app('tuned')).url })
  await home.ended('tuned', (await home.deploy('tuned')).id)
  await desk.goto(`${home.platform.dashboard_url}projects/tuned/settings`)
  const save = desk.getByRole('button', { name: 'Save', exact: true })
  await expect(save).toBeDisabled()
  await expect(desk.getByLabel('Build command')).toHaveAttribute('placeholder', 'Found in the source (Node.js)')

  await desk.getByLabel('Root directory').fill('../elsewhere')
  await save.click()
  await expect(desk.getByRole('alert')).toBeVisible()
  await expect(desk.getByLabel('Root directory')).toHaveAttribute('aria-invalid', 'true')
  await desk.getByRole('button', { name: 'Discard' }).click()
  await expect(desk.getByLabel('Root directory')).toHaveValue('.')

  await desk.getByLabel('Name', { exact: true }).fill('Tuned well')
  await desk.getByLabel('Memory, in MB').fill('256')
  await desk.getByRole('switch', { name: 'Always warm' }).click()
  await save.click()
  await expect(desk.getByRole('heading', { name: 'Tuned well', exact: true })).toBeVisible()
  await expect(desk.getByRole('button', { name: 'Deploy now' })).toBeVisible()
  const project = await home.project('tuned')
  expect(project).toMatchObject({ name: 'Tuned well', memory_limit_mb: 256, always_warm: true })
})

test('a lost connection is said, and heals by itself', { tag: '@full' }, async ({ page }) => {
  // Not of those that the system gives to anybody: while nothing listens there, another would get it.
  const first = await startTestPlatform({ runtime: 'process', port: 21_300 })
  const port = Number(new URL(first.platform.api_url).port)
  await signIn(page, await first.platform.signInUrl())
  await expect(page.getByRole('heading', { name: 'Deploy your first app', exact: true })).toBeVisible()
  await first.platform.stop()
  await expect(page.getByText('The connection to Homeport is lost.')).toBeVisible()

  const second = await startTestPlatform({ runtime: 'process', data_dir: first.data_dir, port })
  await expect(page.getByText('The connection to Homeport is lost.')).toBeHidden()
  await second.createProject({ slug: 'healed', name: 'Healed' })
  await expect(page.getByRole('list', { name: 'Projects' })).toContainText('Healed')
  await second.remove()
})
