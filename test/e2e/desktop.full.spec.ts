import { tinyServer } from '../support/repository.ts'
import { installFakeBridge } from './fake-bridge.ts'
import { addInstance, createToken } from './remote-instances.ts'
import { expect, expectAccessible, test } from './fixtures.ts'

test('desktop settings: switches react at once, then show the state of the system', async ({ dashboard, platform }) => {
  const bridge = await installFakeBridge(dashboard.context())
  await dashboard.goto(`${platform.handle.dashboard_url}instance/desktop`)
  const login = dashboard.getByRole('switch', { name: 'Open at login' })
  await expect(login).not.toBeChecked()
  await login.click()
  await expect(login).toBeChecked()
  await dashboard.getByRole('switch', { name: 'Keep running when the window closes' }).click()
  await dashboard.getByRole('switch', { name: 'Notifications' }).click()
  await expect
    .poll(() => bridge.argumentsOf('changeDesktop'))
    .toEqual([[{ opens_at_login: true }], [{ keeps_running: false }], [{ notifies: false }]])
  await dashboard.reload()
  await expect(dashboard.getByRole('switch', { name: 'Notifications' })).not.toBeChecked()

  await bridge.changeDesktopState(dashboard, { keeps_running: null, opens_at_login: null })
  await expect(dashboard.getByRole('switch', { name: 'Keep running when the window closes' })).toBeDisabled()
  await expect(dashboard.getByText('Homeport quits when its window closes')).toBeVisible()
  await expect(login).toBeDisabled()
  await dashboard.getByRole('button', { name: 'Show logs' }).click()
  await expect.poll(() => bridge.argumentsOf('showLogs')).toHaveLength(1)
})

test('an update, from the check to the restart: each step is shown, and none happens by itself', async ({ dashboard, platform }) => {
  const bridge = await installFakeBridge(dashboard.context())
  await dashboard.goto(`${platform.handle.dashboard_url}instance/desktop`)
  const updates = dashboard.getByRole('region', { name: 'Updates' })
  await expect(updates).toContainText('Homeport 1.2.3')
  await updates.getByRole('button', { name: 'Check now' }).click()
  await bridge.changeDesktopState(dashboard, { update: { name: 'checking' } })
  await expect(updates.getByRole('status')).toHaveText('Checking for updates…')
  await bridge.changeDesktopState(dashboard, { update: { name: 'available', version: '2.0.0' } })
  await updates.getByRole('button', { name: 'Download' }).click()
  await bridge.changeDesktopState(dashboard, { update: { name: 'downloading', version: '2.0.0', percent: 41 } })
  await expect(updates.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '41')
  await expectAccessible(dashboard, 'an update that is downloaded')
  await bridge.changeDesktopState(dashboard, { update: { name: 'ready', version: '2.0.0' } })
  await updates.getByRole('button', { name: 'Restart to update' }).click()
  await expect.poll(() => bridge.argumentsOf('updateDesktop')).toEqual([['check'], ['download'], ['restart']])
  await bridge.changeDesktopState(dashboard, {
    update: { name: 'failed', message: 'The update server does not respond. Homeport checks again tomorrow.' },
  })
  await expect(updates.getByRole('alert')).toContainText('does not respond')
  await expectAccessible(dashboard, 'an update that failed')
  await bridge.changeDesktopState(dashboard, { update: { name: 'off', reason: 'This is a checkout. Update it with git.' } })
  await expect(updates).toContainText('This is a checkout')
  await expect(updates.getByRole('switch')).toBeDisabled()
})

test('in a browser the page offers no desktop settings, and says where they are', async ({ dashboard, platform }) => {
  await dashboard.goto(`${platform.handle.dashboard_url}instance`)
  await expect(dashboard.getByRole('navigation', { name: 'Instance' }).getByRole('link')).toHaveText([
    'Overview',
    'Settings',
    'Network',
    'Disk',
    'Backups',
  ])
  await dashboard.goto(`${platform.handle.dashboard_url}instance/desktop`)
  await expect(dashboard.getByRole('heading', { name: 'Only in the desktop app', exact: true })).toBeVisible()
})

test('the menu opens pages and starts their actions', async ({ dashboard, platform }) => {
  const bridge = await installFakeBridge(dashboard.context())
  await dashboard.goto(`${platform.handle.dashboard_url}account`)
  await expect(dashboard.getByRole('heading', { name: 'Account', exact: true })).toBeVisible()

  await bridge.navigate(dashboard, '/?do=keyboard')
  await expect(dashboard.getByRole('dialog', { name: /keyboard|shortcut/i })).toBeVisible()
  await expect(dashboard).toHaveURL(/\/app\/account$/)
  await dashboard.keyboard.press('Escape')

  await bridge.navigate(dashboard, '/projects?do=new-project')
  await expect(dashboard.getByRole('dialog', { name: 'New project' })).toBeVisible()
  await expect(dashboard).toHaveURL(/\/app\/projects$/)
  await dashboard.keyboard.press('Escape')
  await expect(dashboard.getByRole('dialog')).toHaveCount(0)

  bridge.folders.push('/home/me/harbour-shop')
  await bridge.navigate(dashboard, '/projects?do=deploy-folder')
  const dialog = dashboard.getByRole('dialog', { name: 'New project' })
  await expect(dialog.getByRole('textbox').first()).toHaveValue('/home/me/harbour-shop')
  await dashboard.keyboard.press('Escape')
  await bridge.navigate(dashboard, '/projects?do=deploy-folder')
  await expect.poll(() => bridge.argumentsOf('chooseFolder')).toHaveLength(2)
  await expect(dashboard.getByRole('dialog')).toHaveCount(0)

  await bridge.navigate(dashboard, '/instance/disk')
  await expect(dashboard).toHaveURL(/\/app\/instance\/disk$/)
  await bridge.navigate(dashboard, '/projects', 'This link does not match any page in Homeport. Showing your projects instead.')
  await expect(dashboard.getByText('This link does not match any page in Homeport.')).toBeVisible()
})

test('the page does not repeat the desktop’s notifications of this machine’s deployments', async ({ dashboard, platform, createRepository }) => {
  const bridge = await installFakeBridge(dashboard.context())
  await platform.createProject({ slug: 'quiet', repo_url: createRepository(tinyServer('one')).url })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/quiet`)
  const { id } = await platform.deploy('quiet')
  await expect(dashboard.getByText('Live', { exact: true }).first()).toBeVisible()
  await platform.waitForEnd('quiet', id)
  expect(bridge.argumentsOf('notify')).toEqual([])
})

test('the page notifies about a remote in the foreground, with a link back to it; a local link of the desktop leaves the remote', async ({
  dashboard,
  platform,
  startSecondPlatform,
  createRepository,
}) => {
  const remote = await startSecondPlatform()
  const bridge = await installFakeBridge(dashboard.context())
  const { token } = await createToken(remote)
  const instancePath = await addInstance(dashboard, platform, { url: remote.handle.api_url, token, name: 'Quay' })
  await remote.createProject({ slug: 'far-shop', repo_url: createRepository(tinyServer('far')).url })
  // It only reports deployments that it has seen running, so it must listen before.
  const listens = dashboard.waitForResponse('**/remote/*/instance/events')
  await dashboard.goto(`${platform.handle.api_url}${instancePath}projects/far-shop`)
  await expect(dashboard.getByRole('heading', { name: 'far-shop', exact: true })).toBeVisible()
  await listens
  const { id } = await remote.deploy('far-shop')
  await remote.waitForEnd('far-shop', id)
  const path = `${instancePath.slice('/app'.length)}projects/far-shop/deployments/${id}`
  await expect.poll(() => bridge.argumentsOf('notify').map(([notice]) => [notice.title, notice.path])).toEqual([['far-shop on Quay is ready', path]])

  await bridge.navigate(dashboard, '/instance/disk')
  await expect(dashboard).toHaveURL(/\/app\/instance\/disk$/)
  await bridge.navigate(dashboard, path)
  await expect(dashboard).toHaveURL(`${platform.handle.api_url}/app${path}`)
  await bridge.navigate(dashboard, '/projects?do=new-project')
  await expect(dashboard).toHaveURL(/\/app\/projects$/)
  await expect(dashboard.getByRole('dialog', { name: 'New project' })).toBeVisible()
})
