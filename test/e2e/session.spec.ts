import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from './fixtures.ts'

/*
 * Cookies ignore ports: for a browser, anything that listens on 127.0.0.1 is the same host as the dashboard. That includes an app of an engine that
 * publishes its ports there (Docker Desktop, rootless Docker, an engine reached over TCP), and any other program of this machine.
 */
test('an app on another port of this host can neither receive, end nor start a session', async ({ dashboard, platform }) => {
  const { api_url, dashboard_url } = platform.handle
  const sent: string[] = []
  const { body } = await platform.api<{ token: string }>('POST', '/instance/users', { email: 'member@example.com', plan: 'pro' })
  const link = (await platform.api<{ url: string }>('POST', '/instance/sign-in-links', {}, body.token)).body.url
  // What a script receives when it signs in. Its name is the most that an app could know.
  const script = await fetch(await platform.handle.signInUrl(), { redirect: 'manual' })
  const cookie_name = script.headers.get('set-cookie')?.split('=')[0] ?? ''
  expect(cookie_name).toMatch(/^homeport_/)

  const app = createServer((request, response) => {
    sent.push(JSON.stringify(request.headers))
    response.setHeader('content-type', 'text/html')
    if (request.url === '/toss')
      response.setHeader(
        'set-cookie',
        ['/', '/v1', '/app', '/instance'].map((path) => `${cookie_name}=bad; Path=${path}`),
      )
    response.end(request.url === '/lead' ? `<a href="${link}">A prize</a>` : '<h1>App</h1>')
  })
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  const at = `http://${new URL(api_url).hostname}:${(app.address() as AddressInfo).port}`
  await expect(dashboard.getByRole('heading', { level: 1 })).toBeVisible()
  const session = await dashboard.evaluate(() => localStorage.getItem('homeport.session') ?? '')
  expect(session.length).toBeGreaterThan(20)

  // Theft: a page of the app in the same browser, and its requests to its own server.
  const page = await dashboard.context().newPage()
  await page.goto(`${at}/`)
  await page.evaluate(async () => void (await fetch('/again', { credentials: 'include' })))
  expect(sent.length).toBeGreaterThan(1)
  expect(sent.filter((headers) => headers.includes(session))).toEqual([])
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])

  // Cookie tossing: cookies of our name, for every path.
  await page.goto(`${at}/toss`)
  expect((await dashboard.context().cookies(api_url)).map(({ value }) => value)).toContain('bad')
  await dashboard.reload()
  await dashboard.goto(`${dashboard_url}instance`)
  await expect(dashboard.getByRole('heading', { name: 'Instance', level: 1 })).toBeVisible()

  // Login CSRF: a member's page sends the owner to the member's own sign-in link.
  await page.goto(`${at}/lead`)
  await page.getByRole('link', { name: 'A prize' }).click()
  await expect(page.getByText('You came here from another page.')).toBeVisible()
  await expect(page.getByText('member@example.com')).toBeVisible()
  await dashboard.goto(`${dashboard_url}account`)
  await expect(dashboard.getByText('owner@homeport.localhost').first()).toBeVisible()
  // And it can submit no form there.
  const status = await page.context().request.post(`${api_url}/sign-in`, { form: { code: 'x' }, headers: { origin: at } })
  expect(status.status()).toBe(403)
  await platform.api('DELETE', '/instance/users/member%40example.com')
  app.close()
})
