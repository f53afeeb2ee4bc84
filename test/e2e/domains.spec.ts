import type { Domain } from '../../server/contract/domains.ts'
import type { TestPlatform } from '../support/platform.ts'
import { type DnsStandIn, startDns } from '../support/dns-stand-in.ts'
import { app, expect, expectForEverybody, test } from './fixtures.ts'

test.use({ harbour: 'domains' })

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
  await expect(desk.getByRole('heading', { name: 'Quay' })).toBeVisible()
  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog', { name: 'Find or do' }).getByRole('combobox')).toBeFocused()
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
  await expect(row).toContainText('Does not lead here')
  await expectForEverybody(desk, 'a domain that does not lead here')

  // Who comes back goes on where it was.
  dns.zone = { 'blog.example.com': { A: ['203.0.113.7'] } }
  await desk.reload()
  await row.getByRole('button', { name: 'Check…' }).click()
  await dialog.getByRole('button', { name: 'Check now' }).click()
  await expect(dialog.getByText('leads here, and the project answers to it')).toBeVisible()
  await expect(dialog.getByRole('link', { name: 'Open it' })).toHaveAttribute('href', /^http:\/\/blog\.example\.com:\d+$/)
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
  await deleting.getByRole('button', { name: 'Keep it' }).click()
  await row.getByRole('button', { name: 'What to do with blog.example.com' }).click()
  await desk.getByRole('menuitem', { name: 'Take it away…' }).click()
  await deleting.getByRole('button', { name: 'Take it away' }).click()
  await expect(desk.getByRole('heading', { name: 'No domains yet' })).toBeVisible()
  expect((await home.edge('blog.example.com')).status).toBe(404)
  expect(await domainsOf(home, 'quay')).toEqual([])
})

test('a name is looked for, bought, answers at once, and is given the code to move away', async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'pier', name: 'Pier', repo_url: repository(app('The pier')).url })
  expect((await home.ended('pier', (await home.deploy('pier')).id)).status).toBe('ready')
  await desk.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const addresses: string[] = []
  desk.on('request', (request) => addresses.push(request.url()))

  await desk.goto(`${home.platform.dashboard_url}projects/pier/domains`)
  await desk.getByRole('button', { name: 'Buy a domain…' }).click()
  const searching = desk.getByRole('dialog', { name: 'Buy a domain' })
  await searching.getByLabel('Name to look for').fill('lighthouse.test')
  await searching.getByRole('button', { name: 'Look for it' }).click()
  const offers = searching.getByRole('list', { name: 'Offers' }).getByRole('listitem')
  await expect(offers.first()).toContainText('lighthouse.test')
  await expect(offers.first()).toContainText('Free')
  expect(await offers.count()).toBeGreaterThan(1)
  await expectForEverybody(desk, 'offers')
  await offers.first().getByRole('button', { name: 'Choose lighthouse.test' }).click()

  const buying = desk.getByRole('dialog', { name: 'Buy lighthouse.test' })
  await buying.getByLabel('For how long').selectOption('2 years')
  await buying.getByRole('switch', { name: 'Renew by itself' }).click()
  await buying.getByRole('switch', { name: 'Name who it is registered for' }).click()
  const registrant = buying.getByRole('group', { name: 'Registered for' })
  for (const [label, text] of [
    ['Full name', 'Ada Harbour'],
    ['Email', 'ada@example.com'],
    ['Phone', '+49 30 1234567'],
    ['Street and number', 'Am Kai 1'],
    ['Postal code', '10115'],
    ['City', 'Berlin'],
    ['Country, as two letters', 'de'],
  ] as const)
    await registrant.getByLabel(label).fill(text)
  await expect(registrant.getByLabel('Country, as two letters')).toHaveValue('DE')
  await expectForEverybody(desk, 'the order')
  await buying.getByRole('button', { name: 'Take it' }).click()
  await expect(buying.getByText('lighthouse.test is yours until')).toBeVisible()
  await expectForEverybody(desk, 'bought')
  expect((await home.edge('lighthouse.test')).body).toContain('The pier')
  await buying.getByRole('button', { name: 'Done' }).click()
  const row = desk.getByRole('list', { name: 'Domains' }).getByRole('listitem')
  await expect(row).toContainText('Leads here')
  const [bought] = await domainsOf(home, 'pier')
  expect(bought).toMatchObject({ hostname: 'lighthouse.test', status: 'verified', auto_renew: false })
  await expect(row).toContainText('Ends')

  // Bought, it is nobody’s to buy any more.
  await desk.goto(`${home.platform.dashboard_url}projects/pier/domains?do=buy`)
  await searching.getByLabel('Name to look for').fill('lighthouse.test')
  await desk.keyboard.press('Enter')
  await expect(offers.first()).toContainText('Taken')
  await desk.keyboard.press('Escape')
  await expect(searching).toBeHidden()
  await expect(desk).toHaveURL(/\/domains$/)

  const act = async (name: string) => {
    await row.getByRole('button', { name: 'What to do with lighthouse.test' }).click()
    await desk.getByRole('menuitem', { name }).click()
  }
  await act('Registration…')
  const about = desk.getByRole('dialog', { name: 'lighthouse.test', exact: true })
  await expect(about).toContainText('local')
  await expect(about).toContainText('Ada Harbour')
  await expectForEverybody(desk, 'registration')
  await about.getByRole('button', { name: 'Close' }).first().click()

  await act('Take it to another registrar…')
  await desk.getByRole('dialog', { name: 'Take lighthouse.test to another registrar?' }).getByRole('button', { name: 'Show the code' }).click()
  const code = desk.getByRole('dialog', { name: 'The code for lighthouse.test' })
  await code.getByRole('button', { name: 'Copy the code' }).click()
  await expect.poll(() => desk.evaluate(() => navigator.clipboard.readText())).toMatch(/^\S{8,}$/)
  const secret = await desk.evaluate(() => navigator.clipboard.readText())
  await expect(code).toContainText(secret)
  await expectForEverybody(desk, 'the code')
  await code.getByRole('button', { name: 'Done' }).click()
  await expect(row).toContainText('Moves away')
  expect(await desk.content()).not.toContain(secret)
  expect((await home.edge('lighthouse.test')).status).toBe(404)

  // Who thinks again keeps it.
  await act('Keep it here…')
  await desk.getByRole('dialog', { name: 'Keep lighthouse.test?' }).getByRole('button', { name: 'Keep it' }).click()
  await expect(row).toContainText('Leads here')
  expect((await home.edge('lighthouse.test')).body).toContain('The pier')
  for (const private_ of [secret, 'Ada', 'ada@example.com']) {
    expect(addresses.filter((address) => address.includes(private_))).toEqual([])
    expect(home.log.filter((line) => line.includes(private_))).toEqual([])
  }
})
