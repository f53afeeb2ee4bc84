import { randomBytes } from 'node:crypto'
import { expect } from '@playwright/test'
import type { Domain } from '../../../server/contract/domains.ts'
import { app } from '../fixtures.ts'
import { type Teller, addressesOf, copied, goTo, serving } from './teller.ts'

/** A name is looked for, bought with no network, answers at once, and is given the code to move away, and kept after all. */
export async function domainBought(teller: Teller): Promise<void> {
  const { desk, home, hand, repository } = teller
  // The instance keeps what was bought when its projects go, and the story is told more than once on it.
  const name = `lighthouse-${randomBytes(3).toString('hex')}.test`
  await serving(teller, { slug: 'pier', name: 'Pier', repo_url: repository(app('The pier')).url })
  const addresses = addressesOf(desk)
  await goTo(teller, 'projects/pier')
  await hand.openTab('Domains', 'domains names of this project')
  await hand.press(desk.getByRole('button', { name: 'Buy a domain…' }))
  const searching = desk.getByRole('dialog', { name: 'Buy a domain' })
  await hand.fill(searching.getByLabel('Name to look for'), name)
  await hand.press(searching.getByRole('button', { name: 'Search' }))
  const offers = searching.getByRole('list', { name: 'Offers' }).getByRole('listitem')
  await expect(offers.first()).toContainText(name)
  await expect(offers.first()).toContainText('Free')
  expect(await offers.count()).toBeGreaterThan(1)
  await hand.press(offers.first().getByRole('button', { name: `Choose ${name}` }))

  const buying = desk.getByRole('dialog', { name: `Buy ${name}` })
  await hand.choose(buying.getByLabel('For how long'), '2 years')
  await hand.press(buying.getByRole('switch', { name: 'Renew by itself' }))
  await hand.press(buying.getByRole('switch', { name: 'Name who it is registered for' }))
  const registrant = buying.getByRole('group', { name: 'Registered for' })
  for (const [label, text] of [
    ['Full name', 'Ada Harbour'],
    ['Email', 'ada@example.com'],
    ['Phone', '+49 30 1234567'],
    ['Street and number', 'Am Kai 1'],
    ['Postal code', '10115'],
    ['City', 'Berlin'],
    ['Country, as two letters', 'DE'],
  ] as const)
    await hand.fill(registrant.getByLabel(label), text)
  await hand.press(buying.getByRole('button', { name: 'Take it' }))
  await expect(buying.getByText(`${name} is yours until`)).toBeVisible()
  expect((await home.edge(name)).body).toContain('The pier')
  await hand.press(buying.getByRole('button', { name: 'Done' }))
  await hand.left(buying)
  const row = desk.getByRole('list', { name: 'Domains' }).getByRole('listitem')
  await expect(row).toContainText('Leads here')
  await expect(row).toContainText('Ends')
  const [bought] = (await home.api<{ domains: Domain[] }>('GET', '/v1/projects/pier/domains')).body.domains
  expect(bought).toMatchObject({ hostname: name, status: 'verified', auto_renew: false })

  // Bought, it is nobody’s to buy any more.
  await hand.press(desk.getByRole('button', { name: 'Buy a domain…' }))
  await hand.fill(searching.getByLabel('Name to look for'), name)
  await desk.keyboard.press('Enter')
  await expect(offers.first()).toContainText('Taken')
  await desk.keyboard.press('Escape')
  await hand.left(searching)
  await expect(desk).toHaveURL(/\/domains$/)

  const menu = row.getByRole('button', { name: `What to do with ${name}` })
  await hand.pick(menu, 'Registration…')
  const about = desk.getByRole('dialog', { name, exact: true })
  await expect(about).toContainText('local')
  await expect(about).toContainText('Ada Harbour')
  await hand.press(about.getByRole('button', { name: 'Close' }).first())
  await hand.left(about)

  await hand.pick(menu, 'Take it to another registrar…')
  await hand.press(desk.getByRole('dialog', { name: `Take ${name} to another registrar?` }).getByRole('button', { name: 'Show the code' }))
  const code = desk.getByRole('dialog', { name: `The code for ${name}` })
  await hand.press(code.getByRole('button', { name: 'Copy the code' }))
  await expect.poll(() => copied(desk)).toMatch(/^\S{8,}$/)
  const secret = await copied(desk)
  await expect(code).toContainText(secret)
  await hand.press(code.getByRole('button', { name: 'Done' }))
  await hand.left(code)
  await expect(row).toContainText('Moves away')
  expect(await desk.content()).not.toContain(secret)
  expect((await home.edge(name)).status).toBe(404)

  // Who thinks again keeps it.
  await hand.pick(menu, 'Keep it here…')
  const keeping = desk.getByRole('dialog', { name: `Keep ${name}?` })
  await hand.press(keeping.getByRole('button', { name: 'Cancel' }))
  await hand.left(keeping)
  await expect(row).toContainText('Leads here')
  expect((await home.edge(name)).body).toContain('The pier')
  for (const private_ of [secret, 'Ada', 'ada@example.com']) {
    expect(addresses.filter((address) => address.includes(private_))).toEqual([])
    expect(home.log.filter((line) => line.includes(private_))).toEqual([])
  }
}
