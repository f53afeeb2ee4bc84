import type { Domain } from '../../server/contract/domains.ts'
import type { TestPlatform } from '../support/platform.ts'
import { type FakeDns, startFakeDns } from '../support/fake-dns.ts'
import { greetingAppFiles, expect, expectAccessible, test } from './fixtures.ts'

test.use({ platform_name: 'domains' })

let dns: FakeDns
test.beforeAll(async () => {
  dns = await startFakeDns()
})
test.afterAll(() => dns.close())

async function domainsOf(platform: TestPlatform, slug: string): Promise<Domain[]> {
  return (await platform.api<{ domains: Domain[] }>('GET', `/v1/projects/${slug}/domains`)).body.domains
}

test('an external domain is added, checked, points to this instance, and is removed', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'quay', name: 'Quay', repo_url: createRepository(greetingAppFiles('The quay')).url })
  expect((await platform.waitForEnd('quay', (await platform.deploy('quay')).id)).status).toBe('ready')
  await platform.api('PATCH', '/instance/settings', { dns_resolvers: [dns.address], platform_ip: '203.0.113.7' })
  await dashboard.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const copied = () => dashboard.evaluate(() => navigator.clipboard.readText())

  // With the keyboard only, from anywhere in the project.
  await dashboard.goto(`${platform.handle.dashboard_url}projects/quay`)
  await expect(dashboard.getByRole('heading', { name: 'Quay', exact: true })).toBeVisible()
  await dashboard.keyboard.press('ControlOrMeta+k')
  await expect(dashboard.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await dashboard.keyboard.type('add your own domain')
  await dashboard.keyboard.press('Enter')
  const adding = dashboard.getByRole('dialog', { name: 'Add domain' })
  await expect(adding.getByLabel('Domain')).toBeFocused()
  await expectAccessible(dashboard, 'the name is asked')

  // An invalid hostname is refused with a message below the field.
  await adding.getByLabel('Domain').fill('203.0.113.9')
  await adding.getByRole('button', { name: 'Add domain' }).click()
  await expect(adding.getByRole('alert')).toBeVisible()
  await adding.getByLabel('Domain').fill('https://Blog.Example.com/news')
  await expect(adding.getByText('Added as blog.example.com.')).toBeVisible()
  await adding.getByRole('button', { name: 'Add domain' }).click()

  // The record to set, to be copied.
  const dialog = dashboard.getByRole('dialog', { name: 'blog.example.com' })
  await dialog.getByRole('button', { name: 'Copy value' }).click()
  await expect.poll(copied).toBe('203.0.113.7')
  await dialog.getByRole('button', { name: 'Copy name' }).click()
  await expect.poll(copied).toBe('blog.example.com')
  expect((await platform.fetchEdge('blog.example.com')).status).toBe(404)

  // A failed check says what was found, and what to do.
  dns.zone = { 'blog.example.com': { A: ['198.51.100.1'] } }
  await dialog.getByRole('button', { name: 'Check now' }).click()
  const found = dialog.getByRole('list', { name: 'DNS check results' })
  await expect(found).toContainText('Expected203.0.113.7')
  await expect(found).toContainText('Found198.51.100.1')
  await expectAccessible(dashboard, 'the record is not right')
  await dialog.getByRole('button', { name: 'Later' }).click()
  const row = dashboard.getByRole('list', { name: 'Domains' }).getByRole('listitem')
  await expect(row).toContainText('Not pointing here')
  await expectAccessible(dashboard, 'a domain that does not lead here')

  // A returning user continues at the same place.
  dns.zone = { 'blog.example.com': { A: ['203.0.113.7'] } }
  await dashboard.reload()
  await row.getByRole('button', { name: 'Check…' }).click()
  await dialog.getByRole('button', { name: 'Check now' }).click()
  await expect(dialog.getByText('points here and serves the project')).toBeVisible()
  await expect(dialog.getByRole('link', { name: 'Open domain' })).toHaveAttribute('href', /^http:\/\/blog\.example\.com:\d+\/$/)
  await expectAccessible(dashboard, 'the record is right')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(row).toContainText('Verified')
  expect((await platform.fetchEdge('blog.example.com')).body).toContain('The quay')

  // The same hostname again, from the list of all domains.
  await dashboard.goto(`${platform.handle.dashboard_url}domains`)
  await expect(row.getByRole('link', { name: 'Quay' })).toBeVisible()
  await expectAccessible(dashboard, 'every domain')
  await dashboard.getByRole('button', { name: 'Add domain' }).click()
  await adding.getByLabel('Domain').fill('blog.example.com')
  await adding.getByLabel('Project').selectOption('quay')
  await adding.getByRole('button', { name: 'Add domain' }).click()
  await expect(adding.getByRole('alert')).toContainText('blog.example.com is used by the project quay')
  await adding.getByRole('button', { name: 'Cancel' }).click()

  await row.getByRole('button', { name: 'Actions for blog.example.com' }).click()
  await dashboard.getByRole('menuitem', { name: 'Remove domain…' }).click()
  const deleting = dashboard.getByRole('dialog', { name: 'Remove blog.example.com?' })
  await deleting.getByRole('button', { name: 'Cancel' }).click()
  await row.getByRole('button', { name: 'Actions for blog.example.com' }).click()
  await dashboard.getByRole('menuitem', { name: 'Remove domain…' }).click()
  await deleting.getByRole('button', { name: 'Remove domain' }).click()
  await expect(dashboard.getByRole('heading', { name: 'No domains yet', exact: true })).toBeVisible()
  expect((await platform.fetchEdge('blog.example.com')).status).toBe(404)
  expect(await domainsOf(platform, 'quay')).toEqual([])
})
