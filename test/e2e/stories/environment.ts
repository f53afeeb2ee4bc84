import { expect } from '@playwright/test'
import { type Teller, addressesOf, copied, goTo, serving } from './teller.ts'

/** Answers with what it was started with. */
const mirror = {
  'package.json': JSON.stringify({ name: 'mirror', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const http = require('node:http')
http.createServer((request, response) => response.end(String(process.env[request.url.slice(1)]))).listen(process.env.PORT)
process.on('SIGTERM', () => process.exit(0))
`,
}

/** A variable is added, shown, copied, changed, deployed and deleted; its value is nowhere that it should not be. */
export async function environmentChanged(teller: Teller): Promise<void> {
  const { desk, home, hand, repository } = teller
  await serving(teller, { slug: 'mirror', name: 'Mirror', repo_url: repository(mirror).url })
  const says = async () => (await home.edge('mirror.localhost', '/GREETING')).body
  const addresses = addressesOf(desk)

  await goTo(teller, 'projects/mirror')
  await hand.openTab('Environment', 'environment variables')
  await expect(desk.getByRole('heading', { name: 'No variables yet', exact: true })).toBeVisible()
  await hand.press(desk.getByRole('button', { name: 'Add a variable' }))
  const adding = desk.getByRole('dialog', { name: 'Add a variable' })
  const key = adding.getByLabel('Key')
  await expect(key).toBeFocused()
  await hand.fill(key, 'HOMEPORT_SECRET')
  await expect(adding.getByRole('alert')).toContainText('set by the platform')
  await hand.fill(key, '1ST')
  await expect(adding.getByRole('alert')).toContainText('no digit at the start')
  await hand.fill(key, 'GREETING')
  await hand.fill(adding.getByLabel('Value'), 'ahoy-from-here')
  await hand.choose(adding.getByLabel('Environment'), 'Production')
  await hand.press(adding.getByRole('switch', { name: 'Sensitive' }))
  await hand.press(adding.getByRole('button', { name: 'Add', exact: true }))
  await hand.left(adding)
  await expect(desk).toHaveURL(/\/projects\/mirror\/environment$/)

  // Production is deployed again by itself, and the page follows it to its end.
  await expect(desk.getByRole('link', { name: 'See the deployment' })).toBeVisible()
  await expect(desk.getByText('The app runs with the variables as they are now.')).toBeVisible()
  expect(await says()).toBe('ahoy-from-here')

  // Hidden, and not even in the page; shown and copied when asked for by itself.
  const row = desk.getByRole('region', { name: 'Production', exact: true }).getByRole('listitem')
  await expect(row).toContainText('Sensitive')
  await hand.press(desk.getByRole('button', { name: 'Show values' }))
  await expect(row.getByLabel('Value of GREETING, hidden')).toBeVisible()
  expect(await desk.content()).not.toContain('ahoy-from-here')
  await hand.press(row.getByRole('button', { name: 'Copy the value of GREETING' }))
  await expect.poll(() => copied(desk)).toBe('ahoy-from-here')
  await hand.press(row.getByRole('button', { name: 'Show the value of GREETING' }))
  await expect(row.getByText('ahoy-from-here')).toBeVisible()
  await hand.press(row.getByRole('button', { name: 'Hide the value of GREETING' }))
  await expect(row.getByText('ahoy-from-here')).toBeHidden()

  // The same name in the same environment is no second one.
  await hand.press(desk.getByRole('button', { name: 'Add a variable' }))
  await hand.fill(key, 'GREETING')
  await hand.choose(adding.getByLabel('Environment'), 'Production')
  await expect(adding.getByRole('alert')).toContainText('GREETING is there already for production')
  await hand.press(adding.getByRole('button', { name: 'Cancel' }))
  await hand.left(adding)

  // A new value waits for a deployment, which is offered, also to who comes back later.
  const menu = row.getByRole('button', { name: 'What to do with GREETING' })
  await hand.pick(menu, 'Change the value…')
  const editing = desk.getByRole('dialog', { name: 'Change GREETING' })
  await expect(editing.getByLabel('Value')).toHaveValue('')
  await hand.fill(editing.getByLabel('Value'), 'ho-ho-from-there')
  await hand.press(editing.getByRole('button', { name: 'Save' }))
  await hand.left(editing)
  await expect(desk.getByText('GREETING was changed since the app was deployed.')).toBeVisible()
  expect(await says()).toBe('ahoy-from-here')
  await desk.reload()
  await hand.press(desk.getByRole('button', { name: 'Deploy now' }))
  await expect(desk.getByText('The app runs with the variables as they are now.')).toBeVisible()
  expect(await says()).toBe('ho-ho-from-there')

  const deleting = desk.getByRole('dialog', { name: 'Delete GREETING?' })
  await hand.pick(menu, 'Delete…')
  await hand.press(deleting.getByRole('button', { name: 'Cancel' }))
  await hand.left(deleting)
  await expect(row).toHaveCount(1)
  await hand.pick(menu, 'Delete…')
  await hand.press(deleting.getByRole('button', { name: 'Delete', exact: true }))
  await hand.left(deleting)
  await expect(desk.getByRole('heading', { name: 'No variables yet', exact: true })).toBeVisible()
  await hand.press(desk.getByRole('link', { name: 'See the deployment' }))
  await expect(desk).toHaveURL(/\/deployments\/dpl_/)
  await expect.poll(says).toBe('undefined')

  for (const secret of ['ahoy-from-here', 'ho-ho-from-there']) {
    expect(addresses.filter((address) => address.includes(secret))).toEqual([])
    expect(home.log.filter((line) => line.includes(secret))).toEqual([])
  }
}
