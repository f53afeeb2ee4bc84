import { expect } from '@playwright/test'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { app } from '../fixtures.ts'
import { type Teller, addressesOf, goTo, serving } from './teller.ts'

/** What runs here goes to another instance, is deployed on there, and what runs there comes back. */
export async function thereAndBack(teller: Teller): Promise<void> {
  const { desk, home, startOther, hand, bridge, repository } = teller
  const far = await startOther()
  const made = repository(app('from the quay'))
  await serving(teller, { slug: 'voyager', name: 'Voyager', repo_url: made.url })
  await home.api('POST', '/v1/projects/voyager/env-vars', { vars: [{ key: 'TIDES', value: 'high' }] })
  await expect.poll(async () => (await newest('voyager')).finished_at).not.toBeNull()
  const { token } = (await far.api<{ token: string }>('POST', '/v1/tokens', { name: 'Of the quay' })).body

  await hand.openInstances()
  await hand.press(desk.getByRole('button', { name: 'Add an instance' }))
  const adding = desk.getByRole('dialog', { name: 'Add an instance' })
  await hand.fill(adding.getByLabel('Address'), far.platform.api_url)
  await hand.fill(adding.getByLabel('API token'), token)
  await hand.fill(adding.getByLabel('Name'), 'Lagoon')
  await hand.press(adding.getByRole('button', { name: 'Add', exact: true }))
  await hand.left(adding)
  await expect(desk.getByRole('list', { name: 'Instances' }).getByRole('listitem').filter({ hasText: 'Lagoon' })).toContainText('Online')
  const addresses = addressesOf(desk)

  await goTo(teller, 'projects/voyager')
  const dialog = desk.getByRole('dialog')
  // On a phone it stands in the bar at the top.
  const front = desk.getByRole('region', { name: 'Instance in front' }).or(desk.getByRole('link', { name: /^Lagoon.*, projects$/ }))
  await hand.pick(desk.getByRole('button', { name: 'More actions' }), 'Promote…')
  await expect(dialog.getByText('No project has this slug. A new project is created.')).toBeVisible()
  await hand.press(dialog.getByRole('checkbox', { name: 'TIDES' }))
  await expect(dialog.getByRole('checkbox', { name: 'TIDES' })).toBeChecked()
  await hand.press(dialog.getByRole('button', { name: 'Promote to Lagoon' }))
  await expect(desk).toHaveURL(/\/app\/on\/[^/]+\/projects\/voyager\/deployments\/dpl_/)
  await expect(front).toContainText('Lagoon')
  await expect(desk.locator('.report-head')).toContainText('Current')
  expect((await far.edge('voyager.localhost')).body).toContain('from the quay')
  const there = (await far.api<{ env_vars: EnvVar[] }>('GET', '/v1/projects/voyager/env-vars')).body.env_vars
  expect(there.map(({ key, value }) => [key, value])).toEqual([['TIDES', 'high']])
  if (bridge) {
    // The dock showed how far it was, and does so no more.
    const shown = bridge.given('setProgress').map(([value]) => value)
    expect(shown.filter((value) => value !== null).length).toBeGreaterThan(0)
    expect(shown.at(-1)).toBeNull()
  }

  // What runs there is seen from here as if it were here; then here again.
  await hand.openTab('Overview')
  await expect(desk.locator('.project-title')).toContainText('Live')
  await hand.switchTo('This machine', 1)
  await expect(desk).toHaveURL(home.platform.dashboard_url)
  await expect(front).toHaveCount(0)

  // And back, when it is gone here.
  await home.api('DELETE', '/v1/projects/voyager')
  await hand.switchTo('Lagoon', 2)
  await expect(front).toContainText('Lagoon')
  await hand.press(desk.getByRole('list', { name: 'Projects' }).getByRole('link', { name: 'Voyager', exact: true }))
  await hand.pick(desk.getByRole('button', { name: 'More actions' }), 'Pull to this machine…')
  await hand.press(dialog.getByRole('button', { name: 'Pull to this machine' }))
  await expect(desk).toHaveURL(/\/app\/projects\/voyager\/deployments\/dpl_/)
  await expect(desk.locator('.report-head')).toContainText('Current')
  expect((await home.edge('voyager.localhost')).body).toContain('from the quay')

  // From here on the page had no use for the token, and did not have it.
  expect(addresses.filter((address) => address.includes(token))).toEqual([])
  expect(await desk.content()).not.toContain(token)
  expect(home.log.filter((line) => line.includes(token))).toEqual([])

  async function newest(slug: string) {
    const { body } = await home.api<{ deployments: { finished_at: string | null }[] }>('GET', `/v1/projects/${slug}/deployments?limit=1`)
    return body.deployments[0] ?? { finished_at: null }
  }
}
