import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from '@playwright/test'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { greetingAppFiles, expect, expectAccessible, test as base } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

/** Linux answers on all of 127.0.0.0/8: one of these addresses replaces a network address. */
const lanAddress = '127.0.0.2'
const password = 'seven boats in a bottle'

const test = base.extend<object, { lanPlatform: TestPlatform }>({
  lanPlatform: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright requires the braces
    async ({}, use) => {
      const lanPlatform = await startTestPlatform({ runtime: 'process', lan_addresses: [lanAddress] })
      await use(lanPlatform)
      await lanPlatform.remove()
    },
    { scope: 'worker' },
  ],
})

const loopback = requires('loopback')
test.skip(!loopback.ok, loopback.reason)

async function openPhone(browser: Browser, url: string) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  const page = await context.newPage()
  await page.goto(url)
  return page
}

test('the network is opened with a password, shows QR codes, accepts a sign-in from a phone, and is closed again', async ({
  page,
  browser,
  lanPlatform,
  createRepository,
}) => {
  await lanPlatform.createProject({ slug: 'pier', name: 'Pier', repo_url: createRepository(greetingAppFiles('pier')).url })
  await lanPlatform.waitForEnd('pier', (await lanPlatform.deploy('pier')).id)
  await signIn(page, await lanPlatform.handle.signInUrl())
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Instance' }).click()
  await page.getByRole('navigation', { name: 'Instance' }).getByRole('link', { name: 'Network' }).click()
  await expect(page).toHaveURL(/\/app\/instance\/network$/)

  const lan = page.getByRole('region', { name: 'Local network' })
  await lan.getByRole('switch', { name: 'Allow access from the local network' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set your password' })
  await dialog.getByLabel('Password', { exact: true }).fill('short')
  await dialog.getByLabel('Confirm password').fill('short')
  await expect(dialog.getByRole('button', { name: 'Save and allow access' })).toBeDisabled()
  await dialog.getByLabel('Password', { exact: true }).fill(password)
  await expect(dialog.getByText('The passwords do not match.')).toBeVisible()
  await dialog.getByLabel('Confirm password').fill(password)
  await dialog.getByRole('button', { name: 'Save and allow access' }).click()
  await expect(lan.getByText('not encrypted')).toBeVisible()
  const code = lan.getByRole('img', { name: /^QR code for This dashboard: / })
  await expect(code).toBeVisible()
  await expect(lan.getByRole('img', { name: /^QR code for Pier: / })).toBeVisible()
  const url = (await code.getAttribute('aria-label'))?.replace(/^.*: /, '') ?? ''
  expect(new URL(url).hostname).toBe(lanAddress)
  const appUrl = (await lan.getByRole('img', { name: /Pier/ }).getAttribute('aria-label'))?.replace(/^.*: /, '') ?? ''
  expect(await (await fetch(appUrl)).text()).toContain('pier')

  await expect(page.getByRole('navigation', { name: 'Main' })).toContainText('network open')
  await expectAccessible(page, 'the open network')

  const guest = await openPhone(browser, url)
  await expectAccessible(guest, 'signing in')
  await guest.getByLabel('Email').fill('owner@homeport.localhost')
  await guest.getByLabel('Password', { exact: true }).fill('not the password')
  await guest.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(guest.getByRole('alert')).toContainText('The email or password is wrong')
  await guest.getByLabel('Password', { exact: true }).fill(password)
  await guest.getByRole('button', { name: 'Sign in', exact: true }).click()
  // A phone cannot resolve pier.localhost, so it gets an address with a port.
  await expect(guest.getByRole('list', { name: 'Projects' })).toContainText('Pier')
  await expect(guest.getByRole('list', { name: 'Projects' }).getByRole('link', { name: new URL(appUrl).host })).toBeVisible()
  await guest.context().close()

  await lan.getByRole('switch', { name: 'Allow access from the local network' }).click()
  await expect(lan.getByText('Only this machine can reach the dashboard and apps')).toBeVisible()
  await expect(code).toBeHidden()
  await expect(fetch(url)).rejects.toThrow()
})

test('the certificate authority is trusted with one click, shown, and removed again', async ({ page, lanPlatform, createRepository }) => {
  const nss = requires('nss')
  test.skip(!nss.ok, nss.reason)
  await lanPlatform.createProject({ slug: 'quay', name: 'Quay', repo_url: createRepository(greetingAppFiles('quay')).url })
  await lanPlatform.waitForEnd('quay', (await lanPlatform.deploy('quay')).id)
  await signIn(page, await lanPlatform.handle.signInUrl())
  await page.goto(`${lanPlatform.handle.dashboard_url}instance/network`)
  const https = page.getByRole('region', { name: 'HTTPS' })
  await expect(https).toContainText(/HTTPS address\s*https:\/\//)
  await expect(https.getByText('Not trusted').first()).toBeVisible()
  await https.getByRole('button', { name: 'Trust on this machine' }).click()
  await expect(https.getByText('Trusted', { exact: true }).first()).toBeVisible()
  await expect(https.getByRole('status')).not.toBeEmpty()
  await expect(https.getByText(/^([0-9A-F]{2}:?){32}$/i)).toBeVisible()

  await expectAccessible(page, 'the authority')

  await https.getByRole('switch', { name: 'Redirect HTTP to HTTPS' }).click()
  await expect.poll(async () => (await lanPlatform.fetchEdge('quay.localhost')).status).toBe(308)
  await https.getByRole('switch', { name: 'Redirect HTTP to HTTPS' }).click()
  await expect.poll(async () => (await lanPlatform.fetchEdge('quay.localhost')).status).toBe(200)

  await page.goto(`${lanPlatform.handle.dashboard_url}projects/quay`)
  await expect(page.getByTestId('project-where').getByRole('link', { name: 'HTTPS' })).toHaveAttribute('href', /^https:\/\/quay\.localhost:\d+\/$/)

  await page.goto(`${lanPlatform.handle.dashboard_url}instance/network?at=https`)
  await https.getByRole('button', { name: 'Remove…' }).click()
  await page.getByRole('dialog', { name: 'Remove certificate authority?' }).getByRole('button', { name: 'Remove authority' }).click()
  await expect(https.getByText('None yet; it is created when first needed')).toBeVisible()
  await expect(https.getByText('Trusted', { exact: true })).toHaveCount(0)
})

test('the hosts file is kept in sync while enabled, and restored afterwards', async ({ page, lanPlatform }) => {
  // Replaces /etc/hosts.
  const path = join(lanPlatform.data_dir, 'hosts')
  const before = '127.0.0.1 localhost\n# nothing else\n'
  writeFileSync(path, before)
  await signIn(page, await lanPlatform.handle.signInUrl())
  await page.goto(`${lanPlatform.handle.dashboard_url}instance/network`)
  const hosts = page.getByRole('region', { name: 'Hosts file' })
  await expect(hosts).toContainText('Off')
  await hosts.getByRole('switch', { name: 'Keep the hosts file in sync' }).click()
  await expect(hosts.getByText('In sync', { exact: true })).toBeVisible()
  await lanPlatform.createProject({ slug: 'mole', name: 'Mole' })
  await expect.poll(() => readFileSync(path, 'utf8')).toContain('mole.localhost')
  await page.reload()
  await hosts.getByText('Entries for').click()
  await expect(hosts.getByLabel('Hosts file entries')).toContainText('mole.localhost')
  await hosts.getByRole('switch', { name: 'Keep the hosts file in sync' }).click()
  await expect(hosts).toContainText('Off')
  await expect.poll(() => readFileSync(path, 'utf8')).toBe(before)
})

test('settings for sleep and cache are saved', async ({ page, lanPlatform }) => {
  await signIn(page, await lanPlatform.handle.signInUrl())
  await page.goto(`${lanPlatform.handle.dashboard_url}instance/settings`)
  await page.getByLabel('Sleep after').fill('2 min')
  await page.getByLabel('Memory cache').fill('64 MB')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await expect(page.getByText('Settings saved.')).toBeVisible()
  const { body } = await lanPlatform.api<{ settings: Record<string, unknown> }>('GET', '/instance/settings')
  expect(body.settings).toMatchObject({ sleep_after_s: 120, cache_memory_mb: 64 })
  await page.getByLabel('Sleep after').fill('0')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await expect(page.getByLabel('Sleep after')).toHaveAttribute('aria-invalid', 'true')
})

test('a team member sees edge details of shared projects, but no network settings', async ({ page, lanPlatform, createRepository }) => {
  await lanPlatform.createProject({ slug: 'shared-berth', name: 'Shared berth', repo_url: createRepository(greetingAppFiles('berth')).url })
  await lanPlatform.waitForEnd('shared-berth', (await lanPlatform.deploy('shared-berth')).id)
  await lanPlatform.fetchEdge('shared-berth.localhost')
  const { body } = await lanPlatform.api<{ token: string }>('POST', '/instance/users', { email: 'mate@example.com', verified: true })
  await lanPlatform.api('POST', '/instance/team', { owner_email: 'owner@homeport.localhost', member_email: 'mate@example.com' })
  const link = await lanPlatform.api<{ url: string }>('POST', '/instance/sign-in-links', undefined, body.token)
  await page.goto(link.body.url)
  const troubles: string[] = []
  page.on('response', (response) => response.status() >= 400 && troubles.push(`${response.status()} ${response.url()}`))

  await page.goto(`${lanPlatform.handle.dashboard_url}projects/shared-berth`)
  await expect(page.getByRole('complementary', { name: 'Details' })).toContainText('Sleeps after a while')
  await page.goto(`${lanPlatform.handle.dashboard_url}projects/shared-berth/metrics`)
  await expect(page.getByRole('region', { name: 'Requests' })).toBeVisible()
  await page.goto(`${lanPlatform.handle.dashboard_url}projects/shared-berth/cache`)
  await expect(page.getByRole('region', { name: 'Edge cache' })).toContainText('Stored now')
  await page.goto(`${lanPlatform.handle.dashboard_url}instance/network`)
  await expect(page.getByText('Only the instance owner can see')).toBeVisible()
  await expect(page.getByRole('navigation', { name: 'Instance' })).toHaveCount(0)
  expect(troubles).toEqual([])
})
