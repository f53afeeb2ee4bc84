import { expect, expectForEverybody, test } from './fixtures.ts'
import { spell } from './hand.ts'

test('the sheet shows every key, and turns single ones off for good', async ({ desk, home }) => {
  await home.createProject({ slug: 'pier' })
  await expect(desk.getByRole('list', { name: 'Projects' })).toBeVisible()
  await desk.keyboard.press('?')
  const sheet = desk.getByRole('dialog', { name: 'Keyboard' })
  await expect(sheet).toContainText('Open the app in the browser')
  await expectForEverybody(desk, 'keyboard sheet')
  await sheet.getByRole('switch', { name: 'Single keys' }).click()
  await expect(sheet.getByText('Deploy (off)')).toBeVisible()
  await desk.keyboard.press('Escape')
  await expect(sheet).toBeHidden()

  const stays = async () => {
    for (const key of ['n', '?', '/', 'g', 'h']) await desk.keyboard.press(key)
    // A chord answers after them: by then any of them would have.
    await desk.keyboard.press('ControlOrMeta+/')
    await expect(sheet).toBeVisible()
    await expect(desk).not.toHaveURL(/help/)
    await expect(desk.getByRole('dialog')).toHaveCount(1)
  }
  await stays()
  await desk.reload()
  await expect(desk.getByRole('list', { name: 'Projects' })).toBeVisible()
  await stays()
  await sheet.getByRole('switch', { name: 'Single keys' }).click()
  await desk.keyboard.press('Escape')
  await spell(desk, 'g', 'h')
  await expect(desk).toHaveURL(/\/help$/)
})

test('help is found by what is wrong, and gives the line to copy', async ({ desk, home, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await desk.goto(`${home.platform.dashboard_url}help`)
  await expect(desk.getByRole('heading', { level: 1, name: 'Help' })).toBeVisible()
  await expectForEverybody(desk, 'help')
  await desk.getByRole('searchbox', { name: 'Search help' }).fill('could not resolve host')
  await expect(desk.getByRole('heading', { name: /pages? for “could not resolve host”/ })).toBeVisible()
  await desk.keyboard.press('Enter')
  await expect(desk).toHaveURL(/\/help\/names$/)
  await expect(desk.getByRole('heading', { level: 1, name: 'A name under .localhost' })).toBeVisible()
  await expectForEverybody(desk, 'a page of help')
  await desk.getByRole('button', { name: 'Copy: npx homeport hosts', exact: true }).click()
  await expect.poll(() => desk.evaluate(() => navigator.clipboard.readText())).toBe('npx homeport hosts')
  await desk.goBack()
  await expect(desk.getByRole('searchbox', { name: 'Search help' })).toHaveValue('could not resolve host')

  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await desk.keyboard.type('colima')
  await expect(desk.getByRole('option', { name: 'The engine is not found' })).toBeVisible()
  await desk.keyboard.press('Enter')
  await expect(desk).toHaveURL(/\/help\/engine$/)
  await desk.goto(`${home.platform.dashboard_url}help/keyboard`)
  await expect(desk.getByRole('switch', { name: 'Single keys' })).toBeVisible()
  await expectForEverybody(desk, 'the page of the keyboard')
  await desk.goto(`${home.platform.dashboard_url}help/no-such-page`)
  await expect(desk.getByText('There is nothing at this address')).toBeVisible()
  await desk.getByRole('main').getByRole('link', { name: 'Help' }).click()
  await expect(desk.getByRole('heading', { level: 1, name: 'Help' })).toBeVisible()
})

test('what the doctor finds leads to its page, and so does an error', async ({ desk, home }) => {
  await desk.goto(`${home.platform.dashboard_url}instance`)
  const found = desk.locator('.check').filter({ hasText: 'Encryption' })
  await expect(found).toContainText('sealed with a key in a file')
  for (const name of ['Docker', 'API and dashboard port', 'Apps port']) await expect(desk.locator('.check strong', { hasText: name })).toBeVisible()
  await home.api('POST', '/instance/backups')
  await desk.getByRole('button', { name: 'Check again' }).click()
  await expect(desk.locator('.check', { hasText: 'Backups' })).toContainText(/The last copy is of \d+ \w+ \d{4}, /)
  await found.getByRole('link', { name: 'What to do' }).click()
  await expect(desk).toHaveURL(/\/help\/trouble$/)

  await desk.route('**/instance/doctor', (route) =>
    route.fulfill({ status: 503, json: { error: 'runtime_unavailable', message: 'Docker has left.', request_id: 'req_1' } }),
  )
  await desk.goto(`${home.platform.dashboard_url}instance`)
  await desk.getByRole('alert').getByRole('link', { name: 'What to do' }).click()
  await expect(desk).toHaveURL(/\/help\/engine$/)
})
