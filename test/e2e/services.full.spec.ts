import { shop } from '../deployments/services-suite.ts'
import { expect, test } from './fixtures.ts'

/** A project with a web service, an API, a worker and a cron job. */
const files = () => {
  const own: Record<string, string> = { ...shop('one'), 'job.js': `console.log('cleaned')` }
  const job = '  nightly: { build: ., command: node job.js, schedule: "0 3 * * *" }\nrelease:'
  return { ...own, 'homeport.yaml': (own['homeport.yaml'] ?? '').replace('release:', job) }
}

test('services are shown, restarted and followed, and a cron job is run manually', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'shop', name: 'Harbour shop', repo_url: createRepository(files()).url })
  expect((await platform.waitForEnd('shop', (await platform.deploy('shop')).id)).error).toBeNull()
  await dashboard.goto(`${platform.handle.dashboard_url}projects/shop/services`)
  const row = (name: string) => dashboard.getByRole('listitem').filter({ has: dashboard.getByText(name, { exact: true }) })
  for (const name of ['web', 'api', 'worker']) await expect(row(name).getByText('Running')).toBeVisible()
  await expect(row('api').getByRole('link', { name: /^api--shop\.localhost/ })).toBeVisible()
  await expect(row('web').getByRole('button', { name: 'Restart' })).toHaveCount(0)
  await expect(dashboard.getByText('node release.js')).toBeVisible()

  await row('nightly').getByRole('button', { name: 'Run now' }).click()
  await expect(dashboard.getByText('Started nightly')).toBeVisible()
  const runs = dashboard.getByRole('region', { name: 'Runs of nightly' })
  await expect(runs.getByText('Succeeded')).toBeVisible()

  await row('worker').getByRole('button', { name: 'Restart' }).click()
  await expect(dashboard.getByText('Restarted worker')).toBeVisible()
  await row('worker').getByRole('link', { name: 'Log of worker' }).click()
  await expect(dashboard.getByRole('combobox', { name: 'Service', exact: true })).toHaveValue('worker')
  await expect(dashboard.getByText('worker one works')).toHaveCount(2)
  await dashboard.getByRole('combobox', { name: 'Service', exact: true }).selectOption('Main service')
  await expect(dashboard).toHaveURL(/logs$/)
})
