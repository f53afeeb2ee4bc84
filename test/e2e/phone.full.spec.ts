import type { LanStatus } from '../../server/contract/network.ts'
import { readLanAddresses } from '../../server/network/lan-addresses.ts'
import { startTestPlatform } from '../support/platform.ts'
import { findViolations } from './accessibility.ts'
import { greetingAppFiles, expect, test } from './fixtures.ts'

/** A real network address if there is one: over plain HTTP a browser trusts it less than loopback, and sends less about a form's origin. */
const address = readLanAddresses()[0] ?? '127.0.0.2'
const password = 'a long enough password'

test('a phone on the network signs in with the password and opens an app', async ({ browser, createRepository }) => {
  const platform = await startTestPlatform({ runtime: 'process', lan_addresses: [address] })
  try {
    await platform.createProject({ slug: 'ferry', name: 'Ferry', repo_url: createRepository(greetingAppFiles('hello from the ferry')).url })
    const { id } = await platform.deploy('ferry')
    expect((await platform.waitForEnd('ferry', id)).status).toBe('ready')
    await platform.api('POST', '/instance/password', { password })
    await platform.api('PATCH', '/instance/settings', { lan: true })
    const { lan } = (await platform.api<{ lan: LanStatus }>('GET', '/instance/lan')).body
    const dashboard = lan.dashboard_urls[0] ?? ''

    for (const colorScheme of ['light', 'dark'] as const) {
      const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme })
      const page = await phone.newPage()
      await page.goto(new URL('/sign-in', dashboard).href)
      await expect(page.getByRole('heading', { name: 'Sign in', exact: true })).toBeVisible()
      await page.getByLabel('Password').fill('not the password')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('alert')).toContainText('wrong')
      await expect(page.getByLabel('Email')).toHaveValue('owner@homeport.localhost')
      expect(await findViolations(page)).toEqual([])

      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await expect(page).toHaveURL(dashboard)
      await expect(page.getByRole('main').getByText('Ferry', { exact: true })).toBeVisible()

      // Cookies ignore ports, so the browser sends the dashboard's to the app as well. The app must not receive it.
      const cookies = await phone.cookies(lan.projects[0]?.urls[0])
      expect(cookies.map((cookie) => [cookie.httpOnly, cookie.sameSite])).toEqual([[true, 'Strict']])
      await page.goto(lan.projects[0]?.urls[0] ?? '')
      await expect(page.getByText('hello from the ferry')).toBeVisible()

      // To the browser an app at the same address is same-site: its page can send the cookie, but no request has an effect.
      const drive = async (path: string, init: { method: string; headers?: Record<string, string>; body?: string }) => {
        const options = { ...init, mode: 'no-cors' as const, credentials: 'include' as const }
        await page.evaluate(async ({ url, given }) => void (await fetch(url, given)), { url: new URL(path, dashboard).href, given: options })
      }
      await drive('/instance/sign-out', { method: 'POST' })
      await drive('/v1/projects', {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: JSON.stringify({ name: 'x', slug: 'by-an-app' }),
      })
      await drive('/sign-in', { method: 'POST', body: new URLSearchParams({ email: 'owner@homeport.localhost', password }).toString() })
      await page.goto(dashboard)
      await expect(page.getByRole('main').getByText('Ferry', { exact: true })).toBeVisible()
      expect((await platform.api('GET', '/v1/projects/by-an-app')).status).toBe(404)
      await phone.close()
    }
  } finally {
    await platform.remove()
  }
})
