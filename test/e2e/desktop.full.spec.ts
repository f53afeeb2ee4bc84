import { tinyServer } from '../support/repository.ts'
import { withBridge } from './bridge.ts'
import { addInstance, makeToken } from './elsewhere.ts'
import { expect, expectForEverybody, test } from './fixtures.ts'

test('the desktop’s settings: switches follow the hand, and the system has the last word', async ({ desk, home }) => {
  const bridge = await withBridge(desk.context())
  await desk.goto(`${home.platform.dashboard_url}instance/desktop`)
  const login = desk.getByRole('switch', { name: 'Open at login' })
  await expect(login).not.toBeChecked()
  await login.click()
  await expect(login).toBeChecked()
  await desk.getByRole('switch', { name: 'Keep running when the window closes' }).click()
  await desk.getByRole('switch', { name: 'Notifications' }).click()
  await expect.poll(() => bridge.given('changeDesktop')).toEqual([[{ opens_at_login: true }], [{ keeps_running: false }], [{ notifies: false }]])
  await desk.reload()
  await expect(desk.getByRole('switch', { name: 'Notifications' })).not.toBeChecked()

  await bridge.tellDesktop(desk, { keeps_running: null, opens_at_login: null })
  await expect(desk.getByRole('switch', { name: 'Keep running when the window closes' })).toBeDisabled()
  await expect(desk.getByText('it ends with its window')).toBeVisible()
  await expect(login).toBeDisabled()
  await desk.getByRole('button', { name: 'Show logs' }).click()
  await expect.poll(() => bridge.given('showLogs')).toHaveLength(1)
})

test('an update, from the look to the restart, each step said and none taken by itself', async ({ desk, home }) => {
  const bridge = await withBridge(desk.context())
  await desk.goto(`${home.platform.dashboard_url}instance/desktop`)
  const updates = desk.getByRole('region', { name: 'Updates' })
  await expect(updates).toContainText('This is Homeport 1.2.3')
  await updates.getByRole('button', { name: 'Check now' }).click()
  await bridge.tellDesktop(desk, { update: { name: 'checking' } })
  await expect(updates.getByRole('status')).toHaveText('Looking for a new version.')
  await bridge.tellDesktop(desk, { update: { name: 'available', version: '2.0.0' } })
  await updates.getByRole('button', { name: 'Download' }).click()
  await bridge.tellDesktop(desk, { update: { name: 'downloading', version: '2.0.0', percent: 41 } })
  await expect(updates.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '41')
  await expectForEverybody(desk, 'an update that is downloaded')
  await bridge.tellDesktop(desk, { update: { name: 'ready', version: '2.0.0' } })
  await updates.getByRole('button', { name: 'Restart to update' }).click()
  await expect.poll(() => bridge.given('updateDesktop')).toEqual([['check'], ['download'], ['restart']])
  await bridge.tellDesktop(desk, { update: { name: 'failed', message: 'The update server does not answer. Homeport looks again tomorrow.' } })
  await expect(updates.getByRole('alert')).toContainText('does not answer')
  await expectForEverybody(desk, 'an update that failed')
  await bridge.tellDesktop(desk, { update: { name: 'off', why: 'This is a checkout: git brings its new versions.' } })
  await expect(updates).toContainText('This is a checkout')
  await expect(updates.getByRole('switch')).toBeDisabled()
})

test('a browser has no desktop to set, and says where it is', async ({ desk, home }) => {
  await desk.goto(`${home.platform.dashboard_url}instance`)
  await expect(desk.getByRole('navigation', { name: 'Instance' }).getByRole('link')).toHaveText(['Instance', 'Network', 'Disk', 'Backups'])
  await desk.goto(`${home.platform.dashboard_url}instance/desktop`)
  await expect(desk.getByRole('heading', { name: 'These settings are in the desktop app', exact: true })).toBeVisible()
})

test('the menu leads to places, and to what is done there', async ({ desk, home }) => {
  const bridge = await withBridge(desk.context())
  await desk.goto(`${home.platform.dashboard_url}account`)
  await expect(desk.getByRole('heading', { name: 'Account', exact: true })).toBeVisible()

  await bridge.navigate(desk, '/?do=keyboard')
  await expect(desk.getByRole('dialog', { name: /keyboard|shortcut/i })).toBeVisible()
  await expect(desk).toHaveURL(/\/app\/account$/)
  await desk.keyboard.press('Escape')

  await bridge.navigate(desk, '/projects?do=new-project')
  await expect(desk.getByRole('dialog', { name: 'New project' })).toBeVisible()
  await expect(desk).toHaveURL(/\/app\/projects$/)
  await desk.keyboard.press('Escape')
  await expect(desk.getByRole('dialog')).toHaveCount(0)

  bridge.folders.push('/home/me/harbour-shop')
  await bridge.navigate(desk, '/projects?do=deploy-folder')
  const dialog = desk.getByRole('dialog', { name: 'New project' })
  await expect(dialog.getByRole('textbox').first()).toHaveValue('/home/me/harbour-shop')
  await desk.keyboard.press('Escape')
  await bridge.navigate(desk, '/projects?do=deploy-folder')
  await expect.poll(() => bridge.given('chooseFolder')).toHaveLength(2)
  await expect(desk.getByRole('dialog')).toHaveCount(0)

  await bridge.navigate(desk, '/instance/disk')
  await expect(desk).toHaveURL(/\/app\/instance\/disk$/)
  await bridge.navigate(desk, '/projects', 'That link leads to no place that Homeport knows. Here are your projects.')
  await expect(desk.getByText('That link leads to no place that Homeport knows.')).toBeVisible()
})

test('of this machine’s deployments the desktop tells by itself: the page does not say it again', async ({ desk, home, repository }) => {
  const bridge = await withBridge(desk.context())
  await home.createProject({ slug: 'quiet', repo_url: repository(tinyServer('one')).url })
  await desk.goto(`${home.platform.dashboard_url}projects/quiet`)
  const { id } = await home.deploy('quiet')
  await expect(desk.getByText('Live', { exact: true }).first()).toBeVisible()
  await home.ended('quiet', id)
  expect(bridge.given('notify')).toEqual([])
})

test('of a remote in front the page tells, with a way back there; a local place of the desktop’s leads home', async ({
  desk,
  home,
  startOther,
  repository,
}) => {
  const far = await startOther()
  const bridge = await withBridge(desk.context())
  const { token } = await makeToken(far)
  const front = await addInstance(desk, home, { url: far.platform.api_url, token, name: 'Quay' })
  await far.createProject({ slug: 'far-shop', repo_url: repository(tinyServer('far')).url })
  // It tells of what it has seen run: it has to listen before that.
  const listens = desk.waitForResponse('**/remote/*/instance/events')
  await desk.goto(`${home.platform.api_url}${front}projects/far-shop`)
  await expect(desk.getByRole('heading', { name: 'far-shop', exact: true })).toBeVisible()
  await listens
  const { id } = await far.deploy('far-shop')
  await far.ended('far-shop', id)
  const path = `${front.slice('/app'.length)}projects/far-shop/deployments/${id}`
  await expect.poll(() => bridge.given('notify').map(([notice]) => [notice.title, notice.path])).toEqual([['far-shop on Quay is ready', path]])

  await bridge.navigate(desk, '/instance/disk')
  await expect(desk).toHaveURL(/\/app\/instance\/disk$/)
  await bridge.navigate(desk, path)
  await expect(desk).toHaveURL(`${home.platform.api_url}/app${path}`)
  await bridge.navigate(desk, '/projects?do=new-project')
  await expect(desk).toHaveURL(/\/app\/projects$/)
  await expect(desk.getByRole('dialog', { name: 'New project' })).toBeVisible()
})
