import { randomBytes } from 'node:crypto'
import { expect } from '@playwright/test'
import type { Domain } from '../../../server/contract/domains.ts'
import { greetingAppFiles } from '../fixtures.ts'
import { type StoryContext, recordRequestUrls, readClipboard, goTo, createReadyProject } from './story-context.ts'

/** A domain is searched, bought offline, routed at once, its transfer started, and canceled again. */
export async function buyDomain(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, createRepository } = story
  // Bought domains outlive their project, and the story runs several times on one instance.
  const name = `lighthouse-${randomBytes(3).toString('hex')}.test`
  await createReadyProject(story, { slug: 'pier', name: 'Pier', repo_url: createRepository(greetingAppFiles('The pier')).url })
  const addresses = recordRequestUrls(dashboard)
  await goTo(story, 'projects/pier')
  await inputDriver.openTab('Settings', { name: 'Domains', words: 'domains of this project' })
  await inputDriver.press(dashboard.getByRole('button', { name: 'Buy domain…' }))
  const searching = dashboard.getByRole('dialog', { name: 'Buy a domain' })
  await inputDriver.fill(searching.getByLabel('Domain or word'), name)
  await inputDriver.press(searching.getByRole('button', { name: 'Search' }))
  const offers = searching.getByRole('list', { name: 'Offers' }).getByRole('listitem')
  await expect(offers.first()).toContainText(name)
  await expect(offers.first()).toContainText('Free')
  expect(await offers.count()).toBeGreaterThan(1)
  await inputDriver.press(offers.first().getByRole('button', { name: `Choose ${name}` }))

  const buying = dashboard.getByRole('dialog', { name: `Buy ${name}` })
  await inputDriver.choose(buying.getByLabel('Registration period'), '2 years')
  await inputDriver.press(buying.getByRole('switch', { name: 'Renew automatically' }))
  await inputDriver.press(buying.getByRole('switch', { name: 'Add registrant details' }))
  const registrant = buying.getByRole('group', { name: 'Registrant' })
  for (const [label, text] of [
    ['Full name', 'Ada Harbour'],
    ['Email', 'ada@example.com'],
    ['Phone', '+49 30 1234567'],
    ['Street and number', 'Am Kai 1'],
    ['Postal code', '10115'],
    ['City', 'Berlin'],
    ['Country code (two letters)', 'DE'],
  ] as const)
    await inputDriver.fill(registrant.getByLabel(label), text)
  await inputDriver.press(buying.getByRole('button', { name: 'Get domain' }))
  await expect(buying.getByText(`${name} is yours until`)).toBeVisible()
  expect((await platform.fetchEdge(name)).body).toContain('The pier')
  await inputDriver.press(buying.getByRole('button', { name: 'Done' }))
  await inputDriver.expectClosed(buying)
  const row = dashboard.getByRole('list', { name: 'Domains' }).getByRole('listitem')
  await expect(row).toContainText('Verified')
  await expect(row).toContainText('Ends')
  const [bought] = (await platform.api<{ domains: Domain[] }>('GET', '/v1/projects/pier/domains')).body.domains
  expect(bought).toMatchObject({ hostname: name, status: 'verified', auto_renew: false })

  // Once bought, it is no longer available.
  await inputDriver.press(dashboard.getByRole('button', { name: 'Buy domain…' }))
  await inputDriver.fill(searching.getByLabel('Domain or word'), name)
  await dashboard.keyboard.press('Enter')
  await expect(offers.first()).toContainText('Taken')
  await dashboard.keyboard.press('Escape')
  await inputDriver.expectClosed(searching)
  await expect(dashboard).toHaveURL(/\/domains$/)

  const menu = row.getByRole('button', { name: `Actions for ${name}` })
  await inputDriver.pick(menu, 'Registration…')
  const about = dashboard.getByRole('dialog', { name, exact: true })
  await expect(about).toContainText('local')
  await expect(about).toContainText('Ada Harbour')
  await inputDriver.press(about.getByRole('button', { name: 'Close' }).first())
  await inputDriver.expectClosed(about)

  await inputDriver.pick(menu, 'Transfer to another registrar…')
  await inputDriver.press(
    dashboard.getByRole('dialog', { name: `Transfer ${name} to another registrar?` }).getByRole('button', { name: 'Start transfer' }),
  )
  const code = dashboard.getByRole('dialog', { name: `Transfer code for ${name}` })
  await inputDriver.press(code.getByRole('button', { name: 'Copy code' }))
  await expect.poll(() => readClipboard(dashboard)).toMatch(/^\S{8,}$/)
  const secret = await readClipboard(dashboard)
  await expect(code).toContainText(secret)
  await inputDriver.press(code.getByRole('button', { name: 'Done' }))
  await inputDriver.expectClosed(code)
  await expect(row).toContainText('Transferring out')
  expect(await dashboard.content()).not.toContain(secret)
  expect((await platform.fetchEdge(name)).status).toBe(404)

  // The transfer is canceled.
  await inputDriver.pick(menu, 'Cancel transfer…')
  const keeping = dashboard.getByRole('dialog', { name: `Cancel the transfer of ${name}?` })
  await inputDriver.press(keeping.getByRole('button', { name: 'Cancel' }))
  await inputDriver.expectClosed(keeping)
  await expect(row).toContainText('Verified')
  expect((await platform.fetchEdge(name)).body).toContain('The pier')
  for (const private_ of [secret, 'Ada', 'ada@example.com']) {
    expect(addresses.filter((address) => address.includes(private_))).toEqual([])
    expect(platform.log.filter((line) => line.includes(private_))).toEqual([])
  }
}
