import { expect } from '@playwright/test'
import { isFullTier } from '../../support/tier.ts'
import { type StoryContext, recordRequestUrls, readClipboard, goTo, createReadyProject } from './story-context.ts'

/** Responds with its environment. */
const mirror = {
  'package.json': JSON.stringify({ name: 'mirror', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const http = require('node:http')
http.createServer((request, response) => response.end(String(process.env[request.url.slice(1)]))).listen(process.env.PORT)
process.on('SIGTERM', () => process.exit(0))
`,
}

/** A variable is added, shown, copied, changed, deployed and deleted; its value does not appear anywhere else. */
export async function changeEnvironment(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, createRepository } = story
  await createReadyProject(story, { slug: 'mirror', name: 'Mirror', repo_url: createRepository(mirror).url })
  const readGreeting = async () => (await platform.fetchEdge('mirror.localhost', '/GREETING')).body
  const addresses = recordRequestUrls(dashboard)

  await goTo(story, 'projects/mirror')
  await inputDriver.openTab('Settings', { name: 'Environment', words: 'environment variables' })
  await expect(dashboard.getByRole('heading', { name: 'No variables yet', exact: true })).toBeVisible()
  await inputDriver.press(dashboard.getByRole('button', { name: 'Add variable' }))
  const adding = dashboard.getByRole('dialog', { name: 'Add variable' })
  const key = adding.getByLabel('Key')
  await expect(key).toBeFocused()
  await inputDriver.fill(key, 'HOMEPORT_SECRET')
  await expect(adding.getByRole('alert')).toContainText('HOMEPORT_ are reserved')
  await inputDriver.fill(key, '1ST')
  await expect(adding.getByRole('alert')).toContainText('no digit at the start')
  await inputDriver.fill(key, 'GREETING')
  await inputDriver.fill(adding.getByLabel('Value'), 'ahoy-from-here')
  await inputDriver.choose(adding.getByLabel('Environment'), 'Production')
  await inputDriver.press(adding.getByRole('switch', { name: 'Sensitive' }))
  await inputDriver.press(adding.getByRole('button', { name: 'Add variable' }))
  await inputDriver.expectClosed(adding)
  await expect(dashboard).toHaveURL(/\/projects\/mirror\/environment$/)
  await inputDriver.press(dashboard.getByRole('button', { name: 'Save and redeploy' }))

  // Production is redeployed automatically, and the page follows it to its end.
  await expect(dashboard.getByRole('link', { name: 'View deployment' })).toBeVisible()
  await expect(dashboard.getByText('The app is running with the new variables.')).toBeVisible()
  expect(await readGreeting()).toBe('ahoy-from-here')

  // Hidden, and not even in the DOM; shown and copied on request only.
  const row = dashboard.getByRole('region', { name: 'Production', exact: true }).getByRole('listitem')
  await expect(row).toContainText('Sensitive')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Show values' }))
  await expect(row.getByLabel('Value of GREETING, hidden')).toBeVisible()
  expect(await dashboard.content()).not.toContain('ahoy-from-here')
  await inputDriver.press(row.getByRole('button', { name: 'Copy value of GREETING' }))
  await expect.poll(() => readClipboard(dashboard)).toBe('ahoy-from-here')
  await inputDriver.press(row.getByRole('button', { name: 'Show value of GREETING' }))
  await expect(row.getByText('ahoy-from-here')).toBeVisible()
  await inputDriver.press(row.getByRole('button', { name: 'Hide value of GREETING' }))
  await expect(row.getByText('ahoy-from-here')).toBeHidden()

  if (isFullTier) {
    // The same key in the same environment is refused.
    await inputDriver.press(dashboard.getByRole('button', { name: 'Add variable' }))
    await inputDriver.fill(key, 'GREETING')
    await inputDriver.choose(adding.getByLabel('Environment'), 'Production')
    await expect(adding.getByRole('alert')).toContainText('GREETING already exists for production')
    await inputDriver.press(adding.getByRole('button', { name: 'Cancel' }))
    await inputDriver.expectClosed(adding)
  }

  // A new value waits for a deployment, which is offered, also on a later visit.
  const menu = row.getByRole('button', { name: 'Actions for GREETING' })
  await inputDriver.pick(menu, 'Edit value…')
  const editing = dashboard.getByRole('dialog', { name: 'Edit GREETING' })
  await expect(editing.getByLabel('Value')).toHaveValue('')
  await inputDriver.fill(editing.getByLabel('Value'), 'ho-ho-from-there')
  await inputDriver.press(editing.getByRole('button', { name: 'Change' }))
  await inputDriver.expectClosed(editing)
  await inputDriver.press(dashboard.getByRole('button', { name: 'Save', exact: true }))
  await expect(dashboard.getByText('1 change not deployed yet: GREETING')).toBeVisible()
  expect(await readGreeting()).toBe('ahoy-from-here')
  if (isFullTier) await dashboard.reload()
  await inputDriver.press(dashboard.getByRole('button', { name: 'Redeploy', exact: true }))
  await expect(dashboard.getByText('The app is running with the new variables.')).toBeVisible()
  expect(await readGreeting()).toBe('ho-ho-from-there')

  // A deletion is one more change that can be taken back until it is saved.
  if (isFullTier) {
    await inputDriver.pick(menu, 'Delete')
    await expect(row).toContainText('Deleted')
    await inputDriver.press(dashboard.getByRole('button', { name: 'Discard' }))
    await expect(row).not.toContainText('Deleted')
  }
  await inputDriver.pick(menu, 'Delete')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Save and redeploy' }))
  await expect(dashboard.getByRole('heading', { name: 'No variables yet', exact: true })).toBeVisible()
  await inputDriver.press(dashboard.getByRole('link', { name: 'View deployment' }))
  await expect(dashboard).toHaveURL(/\/deployments\/dpl_/)
  await expect.poll(readGreeting).toBe('undefined')

  for (const secret of ['ahoy-from-here', 'ho-ho-from-there']) {
    expect(addresses.filter((address) => address.includes(secret))).toEqual([])
    expect(platform.log.filter((line) => line.includes(secret))).toEqual([])
  }
}
