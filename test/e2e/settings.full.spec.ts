import { expect, test } from './fixtures.ts'
import { tinyServer } from '../support/repository.ts'

test('settings of both operations are saved together, errors appear at their fields, and the cache is cleared', async ({
  dashboard,
  platform,
  createRepository,
}) => {
  await platform.createProject({ slug: 'tuned', name: 'Tuned', repo_url: createRepository(tinyServer('tuned')).url })
  await platform.waitForEnd('tuned', (await platform.deploy('tuned')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/tuned/settings`)
  await dashboard.getByLabel('Name', { exact: true }).fill('Finely tuned')
  await dashboard.getByLabel('CPU (cores)').fill('0.5')
  await dashboard.getByLabel('Path', { exact: true }).fill('healthz')
  await dashboard.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dashboard.getByText('Use a path that starts with /')).toBeVisible()
  await dashboard.getByLabel('Path', { exact: true }).fill('/healthz')
  await dashboard.getByLabel('Timeout (seconds)').fill('90')
  await dashboard.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dashboard.getByText('Settings saved.')).toBeVisible()
  await expect(dashboard.getByText('All changes saved')).toBeVisible()
  expect((await platform.api<{ settings: object }>('GET', '/instance/projects/tuned/settings')).body.settings).toEqual({
    health_path: '/healthz',
    health_timeout_s: 90,
    cpu_limit: 0.5,
    preview_volumes: 'empty',
    watch_paths: [],
    public_ports: [],
    apps: [],
    tracing: true,
    replicas: 1,
    autoscaling: null,
    sticky_sessions: false,
    node_labels: [],
  })
  expect(await platform.getProject('tuned')).toMatchObject({ name: 'Finely tuned' })

  await dashboard.getByLabel('CPU (cores)').fill('')
  await dashboard.getByRole('button', { name: 'Save', exact: true }).click()
  await expect
    .poll(
      async () =>
        (await platform.api<{ settings: { cpu_limit: number | null } }>('GET', '/instance/projects/tuned/settings')).body.settings.cpu_limit,
    )
    .toBeNull()
  await dashboard.getByRole('switch', { name: 'Autoscaling' }).click()
  await dashboard.getByLabel('Maximum replicas').fill('4')
  await dashboard.getByRole('button', { name: 'Save', exact: true }).click()
  await expect
    .poll(
      async () => (await platform.api<{ settings: { autoscaling: unknown } }>('GET', '/instance/projects/tuned/settings')).body.settings.autoscaling,
    )
    .toEqual({ min: 1, max: 4, target_concurrency: 20 })
  await dashboard.getByRole('button', { name: 'Clear build cache' }).click()
  await expect(dashboard.getByText('Build cache cleared.')).toBeVisible()

  await dashboard.getByRole('button', { name: 'More actions' }).click()
  await dashboard.getByRole('menuitem', { name: 'Deploy without cache' }).click()
  await expect(dashboard.getByTestId('log-panel').getByText('Building without cache.')).toBeVisible()
})

test('a variable is made write-only and a build secret, and its value is never shown again', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'mute', name: 'Mute', repo_url: createRepository(tinyServer('mute')).url })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/mute/environment?do=add`)
  const dialog = dashboard.getByRole('dialog')
  await dialog.getByLabel('Key', { exact: true }).fill('TOKEN')
  await dialog.getByLabel('Value', { exact: true }).fill('HPSENT_typed')
  await dialog.getByRole('switch', { name: 'Write-only' }).click()
  await dialog.getByRole('switch', { name: 'Build secret' }).click()
  await dialog.getByRole('button', { name: 'Add variable' }).click()
  const row = dashboard.getByRole('listitem').filter({ hasText: 'TOKEN' })
  await expect(row).toContainText('Write-only')
  await expect(row).toContainText('Build secret')
  await dashboard.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(row).not.toContainText('New')
  await dashboard.getByRole('button', { name: 'Show values' }).click()
  await expect(row.getByRole('img', { name: 'Value of TOKEN, write-only' })).toBeVisible()
  await expect(row.getByRole('button', { name: 'Show value of TOKEN' })).toHaveCount(0)
  await row.getByRole('button', { name: 'Actions for TOKEN' }).click()
  await dashboard.getByRole('menuitem', { name: 'Replace value…' }).click()
  await dashboard.getByRole('dialog').getByLabel('Value', { exact: true }).fill('HPSENT_again')
  await expect(dashboard.getByRole('dialog').getByRole('switch', { name: 'Write-only' })).toBeDisabled()
  await dashboard.getByRole('dialog').getByRole('button', { name: 'Change' }).click()
  await expect(dashboard.getByRole('dialog')).toHaveCount(0)
  await dashboard.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(row).not.toContainText('Changed')
  await dashboard.reload()
  await expect(row).toContainText('Write-only')
  expect(await dashboard.content()).not.toContain('HPSENT')
})

test('on a phone the current tab and page are in view', async ({ dashboard, platform }) => {
  await platform.createProject({ slug: 'narrow', name: 'Narrow' })
  await dashboard.setViewportSize({ width: 390, height: 844 })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/narrow/cache`)
  await expect(dashboard.getByRole('link', { name: 'Settings', exact: true })).toBeInViewport({ ratio: 1 })
  await expect(dashboard.getByRole('link', { name: 'Cache', exact: true })).toBeInViewport({ ratio: 1 })
})
