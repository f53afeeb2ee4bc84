import type { Domain } from '../../server/contract/domains.ts'
import type { TestPlatform } from '../support/platform.ts'
import { type DnsStandIn, startDns } from '../support/dns-stand-in.ts'
import { app, expect, expectForEverybody, test } from './fixtures.ts'

test.use({ platform_name: 'domains' })

let dns: DnsStandIn
test.beforeAll(async () => {
  dns = await startDns()
})
test.afterAll(() => dns.close())

async function domainsOf(home: TestPlatform, slug: string): Promise<Domain[]> {
  return (await home.api<{ domains: Domain[] }>('GET', `/v1/projects/${slug}/domains`)).body.domains
}

test('a name of one’s own is added, checked, leads here, and is taken away', async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'quay', name: 'Quay', repo_url: repository(app('The quay')).url })
  expect((await home.ended('quay', (await home.deploy('quay')).id)).status).toBe('ready')
  await home.api('PATCH', '/instance/settings', { dns_resolvers: [dns.address], platform_ip: '203.0.113.7' })
  await desk.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const copied = () => desk.evaluate(() => navigator.clipboard.readText())

  // By keys alone, from anywhere in the project.
  await desk.goto(`${home.platform.dashboard_url}projects/quay`)
  await expect(desk.getByRole('heading', { name: 'Quay', exact: true })).toBeVisible()
  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await desk.keyboard.type('add one of your own')
  await desk.keyboard.press('Enter')
  const adding = desk.getByRole('dialog', { name: 'Add a domain of your own' })
  await expect(adding.getByLabel('Name')).toBeFocused()
  await expectForEverybody(desk, 'the name is asked')

  // What is no name of a project is refused in words, below the field.
  await adding.getByLabel('Name').fill('203.0.113.9')
  await adding.getByRole('button', { name: 'Add it' }).click()
  await expect(adding.getByRole('alert')).toBeVisible()
  await adding.getByLabel('Name').fill('https://Blog.Example.com/news')
  await expect(adding.getByText('That is blog.example.com.')).toBeVisible()
  await adding.getByRole('button', { name: 'Add it' }).click()

  // The record to set, to be copied.
  const dialog = desk.getByRole('dialog', { name: 'blog.example.com' })
  await dialog.getByRole('button', { name: 'Copy the value' }).click()
  await expect.poll(copied).toBe('203.0.113.7')
  await dialog.getByRole('button', { name: 'Copy the name' }).click()
  await expect.poll(copied).toBe('blog.example.com')
  expect((await home.edge('blog.example.com')).status).toBe(404)

  // A look that finds something else says what, and what to do.
  dns.zone = { 'blog.example.com': { A: ['198.51.100.1'] } }
  await dialog.getByRole('button', { name: 'Check now' }).click()
  const found = dialog.getByRole('list', { name: 'What was found' })
  await expect(found).toContainText('Expected203.0.113.7')
  await expect(found).toContainText('Found198.51.100.1')
  await expectForEverybody(desk, 'the record is not right')
  await dialog.getByRole('button', { name: 'Later' }).click()
  const row = desk.getByRole('list', { name: 'Domains' }).getByRole('listitem')
  await expect(row).toContainText('Not pointing here')
  await expectForEverybody(desk, 'a domain that does not lead here')

  // Who comes back goes on where it was.
  dns.zone = { 'blog.example.com': { A: ['203.0.113.7'] } }
  await desk.reload()
  await row.getByRole('button', { name: 'Check…' }).click()
  await dialog.getByRole('button', { name: 'Check now' }).click()
  await expect(dialog.getByText('leads here, and the project answers to it')).toBeVisible()
  await expect(dialog.getByRole('link', { name: 'Open it' })).toHaveAttribute('href', /^http:\/\/blog\.example\.com:\d+\/$/)
  await expectForEverybody(desk, 'the record is right')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(row).toContainText('Leads here')
  expect((await home.edge('blog.example.com')).body).toContain('The quay')

  // The same name a second time, from the list of all of them.
  await desk.goto(`${home.platform.dashboard_url}domains`)
  await expect(row.getByRole('link', { name: 'Quay' })).toBeVisible()
  await expectForEverybody(desk, 'every domain')
  await desk.getByRole('button', { name: 'Add a domain' }).click()
  await adding.getByLabel('Name').fill('blog.example.com')
  await adding.getByLabel('Project').selectOption('quay')
  await adding.getByRole('button', { name: 'Add it' }).click()
  await expect(adding.getByRole('alert')).toContainText('blog.example.com belongs to the project quay')
  await adding.getByRole('button', { name: 'Cancel' }).click()

  await row.getByRole('button', { name: 'What to do with blog.example.com' }).click()
  await desk.getByRole('menuitem', { name: 'Take it away…' }).click()
  const deleting = desk.getByRole('dialog', { name: 'Take blog.example.com away?' })
  await deleting.getByRole('button', { name: 'Cancel' }).click()
  await row.getByRole('button', { name: 'What to do with blog.example.com' }).click()
  await desk.getByRole('menuitem', { name: 'Take it away…' }).click()
  await deleting.getByRole('button', { name: 'Take it away' }).click()
  await expect(desk.getByRole('heading', { name: 'No domains yet', exact: true })).toBeVisible()
  expect((await home.edge('blog.example.com')).status).toBe(404)
  expect(await domainsOf(home, 'quay')).toEqual([])
})
