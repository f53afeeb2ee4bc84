import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import type { EnvVar } from '../../server/contract/env-vars.ts'
import type { TestPlatform } from '../support/platform.ts'
import { greetingAppFiles, expect, test } from './fixtures.ts'

const group = (dashboard: Page, name: string) => dashboard.getByRole('region', { name, exact: true })
const stored = async (platform: TestPlatform, slug: string) =>
  (await platform.api<{ env_vars: EnvVar[] }>('GET', `/v1/projects/${slug}/env-vars`)).body.env_vars.map(({ key, value, environment }) => [
    key,
    value,
    environment,
  ])

test('an imported file shows what each line does before it is saved, and is exported as a file', async ({ dashboard, platform }) => {
  await platform.createProject({ slug: 'archive', name: 'Archive' })
  await platform.api('POST', '/v1/projects/archive/env-vars', {
    vars: [
      { key: 'OLD', value: 'same' },
      { key: 'OTHER', value: 'ours' },
    ],
  })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/archive/environment`)
  await expect(group(dashboard, 'Production and previews').getByRole('listitem')).toHaveCount(2)
  const file = [
    '# of the old server',
    'export API_URL="https://api.example.com/#top"',
    'OLD=same',
    'OTHER=theirs',
    'PORT_NAME=north',
    '9LIVES=no',
    'homeport_x=1',
    `LONG=${'x'.repeat(10_001)}`,
    'NUL=a\0b',
    'just words',
    "KEY='line one",
    "line two'",
    'PORT_NAME=south',
  ].join('\r\n')

  // Dropped anywhere on the page.
  const dropped = await dashboard.evaluateHandle((text) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([text], '.env'))
    return transfer
  }, file)
  await dashboard.locator('.env').dispatchEvent('drop', { dataTransfer: dropped })
  const dialog = dashboard.getByRole('dialog', { name: 'Import .env file' })
  const lines = dialog.getByRole('group', { name: 'Lines' }).getByRole('listitem')
  await expect(dialog.getByText('3 will be added, 3 skipped, 5 rejected.')).toBeVisible()
  const outcomes = [
    'Line 2API_URLAdded',
    'Line 3OLDSkipped: already exists with the same value.',
    'Line 4OTHERSkipped: already exists with another value',
    'Line 5PORT_NAMESkipped: line 13 sets the same key',
    'Line 69LIVESRejected: use letters',
    'Line 7homeport_xRejected: names that start with HOMEPORT_',
    'Line 8LONGRejected: a value has at most 10,000 characters; this one has 10,001.',
    'Line 9NULRejected: a value must not contain a NUL character.',
    'Line 10Rejected: not a KEY=value line.',
    'Line 11KEYAdded',
    'Line 13PORT_NAMEAdded',
  ]
  await expect(lines).toContainText(outcomes)
  expect(await stored(platform, 'archive')).toHaveLength(2)

  // The other environment has no variables yet.
  await dialog.getByLabel('Environment').selectOption('Previews')
  await expect(dialog.getByText('5 will be added, 1 skipped, 5 rejected.')).toBeVisible()
  await dialog.getByLabel('Environment').selectOption('Production and previews')
  await dialog.getByRole('button', { name: 'Add 3 variables' }).click()
  await expect(dialog).toBeHidden()
  await expect(group(dashboard, 'Production and previews').getByRole('listitem')).toHaveCount(5)
  await expect(dashboard.getByRole('region', { name: 'Unsaved changes' })).toContainText('3 changes')
  expect(await stored(platform, 'archive')).toHaveLength(2)
  await dashboard.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dashboard.getByRole('region', { name: 'Unsaved changes' })).toBeHidden()
  expect(await stored(platform, 'archive')).toEqual([
    ['API_URL', 'https://api.example.com/#top', null],
    ['KEY', 'line one\nline two', null],
    ['OLD', 'same', null],
    ['OTHER', 'ours', null],
    ['PORT_NAME', 'south', null],
  ])

  // Another window is updated, and variables of previews override those of both.
  await platform.api('POST', '/v1/projects/archive/env-vars', { key: 'OLD', value: 'newer', environment: 'preview' })
  await platform.api('POST', '/v1/projects/archive/env-vars', { key: 'ODD', value: `'"\`\n`, environment: 'preview' })
  await expect(group(dashboard, 'Previews').getByRole('listitem')).toHaveCount(2)
  await dashboard.getByRole('button', { name: 'Download' }).click()
  const [download] = await Promise.all([dashboard.waitForEvent('download'), dashboard.getByRole('menuitem', { name: 'Preview variables' }).click()])
  expect(download.suggestedFilename()).toBe('archive.preview.env')
  expect(download.url()).toMatch(/^blob:/)
  const text = readFileSync(await download.path(), 'utf8')
  expect(text).toContain('OLD=newer\n')
  expect(text).not.toContain('OLD=same')
  expect(text).toContain("KEY='line one\nline two'\n")
  await expect(dashboard.getByText('Downloaded without ODD, because the .env format cannot represent its value.')).toBeVisible()

  // Pasted anywhere on the page, or into the name field.
  const paste = (selector: string, content: string) =>
    dashboard.locator(selector).evaluate((element, pasted) => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text', pasted)
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    }, content)
  await paste('body', 'ONE=1\nTWO=2')
  await expect(dialog.getByText('2 will be added, 0 skipped, 0 rejected.')).toBeVisible()
  await dashboard.keyboard.press('Escape')
  await dashboard.getByRole('button', { name: 'Add variable' }).click()
  await paste('[placeholder=DATABASE_URL]', 'ONE=1')
  await expect(dashboard.getByRole('dialog').getByLabel('Key')).toHaveValue('ONE')
  await expect(dashboard.getByRole('dialog').getByLabel('Value')).toHaveValue('1')
  await paste('[placeholder=DATABASE_URL]', 'ONE=1\nTWO=2\nTHREE=3')
  await expect(dialog.getByText('3 will be added, 0 skipped, 0 rejected.')).toBeVisible()
})

test('new variables appear at once, however slow the list is, and the notice of their deployment keeps its height', async ({
  dashboard,
  platform,
  createRepository,
}) => {
  await platform.createProject({ slug: 'quick', name: 'Quick', repo_url: createRepository(greetingAppFiles('quick')).url })
  await platform.waitForEnd('quick', (await platform.deploy('quick')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/quick/environment?do=import`)
  const dialog = dashboard.getByRole('dialog', { name: 'Import .env file' })
  await dialog.getByLabel('File content').fill('ONE=1\nTWO=2')
  const released = Promise.withResolvers<void>()
  await dashboard.route(/\/env-vars$|\/deployments\?/, async (route) => {
    if (route.request().method() === 'GET') await released.promise
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Add 2 variables' }).click()
  await expect(dialog).toBeHidden()
  await dashboard.getByRole('button', { name: 'Save and redeploy' }).click()
  await expect(group(dashboard, 'Production and previews').getByRole('listitem')).toHaveCount(2)
  await expect(dashboard.getByText('not deployed yet')).toHaveCount(0)
  released.resolve()
  const notice = dashboard.locator('.deployment-notice')
  await expect(notice).toBeVisible()
  const height = (await notice.boundingBox())?.height
  await expect(notice).toContainText('The app is running with')
  expect((await notice.boundingBox())?.height).toBe(height)
})

test('several changes are edited as text, reviewed in the list, and saved as one deployment', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'crate', name: 'Crate', repo_url: createRepository(greetingAppFiles('crate')).url })
  const vars = ['FIRST', 'LATER', 'SECOND'].map((key) => ({ key, value: key.toLowerCase() }))
  await platform.api('POST', '/v1/projects/crate/env-vars', { vars: [...vars, { key: 'API_KEY', value: 'HPSENT_key' }] })
  await platform.waitForEnd('crate', (await platform.deploy('crate')).id)
  const countDeployments = async () =>
    (await platform.api<{ deployments: unknown[] }>('GET', '/v1/projects/crate/deployments')).body.deployments.length
  await dashboard.goto(`${platform.handle.dashboard_url}projects/crate/environment`)
  const bar = dashboard.getByRole('region', { name: 'Unsaved changes' })
  const row = (key: string) => dashboard.getByRole('listitem').filter({ hasText: key })

  await dashboard.getByRole('button', { name: 'Edit as text' }).click()
  const text = dashboard.getByRole('dialog').getByLabel('Variables')
  await expect(text).toHaveValue('API_KEY=<hidden>\nFIRST=first\nLATER=later\nSECOND=second\n')
  await text.fill('API_KEY=<hidden>\nFIRST=changed\nSECOND=second\nTHIRD=third\n')
  await expect(dashboard.getByRole('dialog')).toContainText('1 added, 1 changed, 1 deleted.')
  await dashboard.getByRole('button', { name: 'Apply changes' }).click()
  await expect(bar).toContainText('3 changes')
  await expect(row('LATER')).toContainText('Deleted')
  await expect(row('FIRST')).toContainText('Changed')

  // Another page does not lose them, and one of them is taken back.
  await dashboard.getByRole('link', { name: 'Domains' }).last().click()
  await dashboard.getByRole('link', { name: 'Environment' }).click()
  await expect(bar).toContainText('3 changes')
  await dashboard.getByRole('button', { name: 'Actions for LATER' }).click()
  await dashboard.getByRole('menuitem', { name: 'Undo change' }).click()
  await expect(bar).toContainText('2 changes')

  // Found, selected and deleted; the names of secrets stay hidden when all values are shown.
  await dashboard.getByRole('button', { name: 'Show values' }).click()
  await expect(row('SECOND').getByText('second', { exact: true })).toBeVisible()
  await expect(row('API_KEY').getByRole('img', { name: 'Value of API_KEY, hidden' })).toBeVisible()
  await dashboard.getByRole('searchbox', { name: 'Search variables' }).fill('sec')
  await expect(group(dashboard, 'Production and previews').getByRole('listitem')).toHaveCount(1)
  await dashboard.getByRole('checkbox', { name: 'Select SECOND' }).check()
  await dashboard.getByRole('button', { name: 'Delete 1 selected' }).click()
  await dashboard.getByRole('searchbox', { name: 'Search variables' }).fill('')
  await expect(bar).toContainText('3 changes')

  const before = await countDeployments()
  await bar.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(bar).toBeHidden()
  await expect(dashboard.getByText('3 changes not deployed yet:')).toBeVisible()
  expect(await countDeployments()).toBe(before)
  expect(await stored(platform, 'crate')).toEqual([
    ['API_KEY', 'HPSENT_key', null],
    ['FIRST', 'changed', null],
    ['LATER', 'later', null],
    ['THIRD', 'third', null],
  ])
  await dashboard.getByRole('button', { name: 'Redeploy', exact: true }).click()
  await expect(dashboard.getByText('The app is running with the new variables.')).toBeVisible()
  await expect(dashboard.getByText('not deployed yet')).toHaveCount(0)
  expect(await countDeployments()).toBe(before + 1)
})
