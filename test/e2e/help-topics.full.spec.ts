import { expect, expectAccessible, test } from './fixtures.ts'
import { pressInSequence } from './input-driver.ts'

test('the shortcuts sheet shows every key, and single keys can be turned off permanently', async ({ dashboard, platform }) => {
  await platform.createProject({ slug: 'pier' })
  await expect(dashboard.getByRole('list', { name: 'Projects' })).toBeVisible()
  await dashboard.keyboard.press('?')
  const sheet = dashboard.getByRole('dialog', { name: 'Keyboard' })
  await expect(sheet).toContainText('Open the app in a browser')
  await expectAccessible(dashboard, 'keyboard sheet')
  await sheet.getByRole('switch', { name: 'Single-key shortcuts' }).click()
  await expect(sheet.getByText('Deploy (off)')).toBeVisible()
  await dashboard.keyboard.press('Escape')
  await expect(sheet).toBeHidden()

  const stays = async () => {
    for (const key of ['n', '?', '/', 'g', 'h']) await dashboard.keyboard.press(key)
    // The chord is processed after them: by then any of them would have had an effect.
    await dashboard.keyboard.press('ControlOrMeta+/')
    await expect(sheet).toBeVisible()
    await expect(dashboard).not.toHaveURL(/help/)
    await expect(dashboard.getByRole('dialog')).toHaveCount(1)
  }
  await stays()
  await dashboard.reload()
  await expect(dashboard.getByRole('list', { name: 'Projects' })).toBeVisible()
  await stays()
  await sheet.getByRole('switch', { name: 'Single-key shortcuts' }).click()
  await dashboard.keyboard.press('Escape')
  await pressInSequence(dashboard, 'g', 'h')
  await expect(dashboard).toHaveURL(/\/help$/)
})

test('help is searched by symptom, and its commands can be copied', async ({ dashboard, platform, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await dashboard.goto(`${platform.handle.dashboard_url}help`)
  await expect(dashboard.getByRole('heading', { level: 1, name: 'Help' })).toBeVisible()
  await expectAccessible(dashboard, 'help')
  await dashboard.getByRole('searchbox', { name: 'Search help' }).fill('could not resolve host')
  await expect(dashboard.getByRole('heading', { name: /topics? for “could not resolve host”/ })).toBeVisible()
  await dashboard.keyboard.press('Enter')
  await expect(dashboard).toHaveURL(/\/help\/names$/)
  await expect(dashboard.getByRole('heading', { level: 1, name: 'A .localhost name' })).toBeVisible()
  await expectAccessible(dashboard, 'a page of help')
  await dashboard.getByRole('button', { name: 'Copy: npx homeport hosts', exact: true }).click()
  await expect.poll(() => dashboard.evaluate(() => navigator.clipboard.readText())).toBe('npx homeport hosts')
  await dashboard.goBack()
  await expect(dashboard.getByRole('searchbox', { name: 'Search help' })).toHaveValue('could not resolve host')

  await dashboard.keyboard.press('ControlOrMeta+k')
  await expect(dashboard.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await dashboard.keyboard.type('colima')
  await expect(dashboard.getByRole('option', { name: 'Docker is not found' })).toBeVisible()
  await dashboard.keyboard.press('Enter')
  await expect(dashboard).toHaveURL(/\/help\/engine$/)
  await dashboard.goto(`${platform.handle.dashboard_url}help/keyboard`)
  await expect(dashboard.getByRole('switch', { name: 'Single-key shortcuts' })).toBeVisible()
  await expectAccessible(dashboard, 'the page of the keyboard')
  await dashboard.goto(`${platform.handle.dashboard_url}help/no-such-page`)
  await expect(dashboard.getByText('Page not found')).toBeVisible()
  await dashboard.getByRole('main').getByRole('link', { name: 'Help' }).click()
  await expect(dashboard.getByRole('heading', { level: 1, name: 'Help' })).toBeVisible()
})

test('findings of the doctor and errors link to their help page', async ({ dashboard, platform }) => {
  await dashboard.goto(`${platform.handle.dashboard_url}instance`)
  const found = dashboard.getByTestId('check').filter({ hasText: 'Encryption' })
  await expect(found).toContainText('encrypted with a key in a file')
  for (const name of ['Docker', 'API and dashboard port', 'Apps port'])
    await expect(dashboard.locator('[data-testid=check] strong', { hasText: new RegExp(`^${name}$`) })).toBeVisible()
  await platform.api('POST', '/instance/backups')
  await dashboard.getByRole('button', { name: 'Check again' }).click()
  await expect(dashboard.getByTestId('check').filter({ hasText: 'Backups' })).toContainText(/Last copy: \d+ \w+ \d{4}, /)
  await found.getByRole('link', { name: 'How to fix it' }).click()
  await expect(dashboard).toHaveURL(/\/help\/trouble$/)

  await dashboard.route('**/instance/doctor', (route) =>
    route.fulfill({ status: 503, json: { error: 'runtime_unavailable', message: 'Docker has left.', request_id: 'req_1' } }),
  )
  await dashboard.goto(`${platform.handle.dashboard_url}instance`)
  await dashboard.getByRole('alert').getByRole('link', { name: 'How to fix it' }).click()
  await expect(dashboard).toHaveURL(/\/help\/engine$/)
})
