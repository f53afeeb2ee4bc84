import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

test('the first screen is small, compressed, and painted before any script arrives', async ({ platform, browser }) => {
  await platform.createProject({ slug: 'light' })
  const context = await browser.newContext({ viewport: { width: 1280, height: 820 } })
  const page = await context.newPage()
  const named = [...readFileSync(join(import.meta.dirname, '../../out/renderer/index.html'), 'utf8').matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(
    ([, path = '']) => path,
  )
  const sent = new Map<string, { coding: string | undefined; kept: string | undefined; bytes: number }>()
  page.on('response', async (response) => {
    const path = new URL(response.url()).pathname
    if (!named.includes(path)) return
    const headers = response.headers()
    sent.set(path, { coding: headers['content-encoding'], kept: headers['cache-control'], bytes: Number(headers['content-length']) })
  })
  await signIn(page, await platform.handle.signInUrl())
  await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor()
  expect([...sent.keys()].toSorted()).toEqual(named.toSorted())
  expect([...sent.values()].reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(350_000)
  for (const [path, { coding, kept }] of sent) {
    // The theme script is smaller than a packet.
    if (!path.startsWith('/app/assets/')) continue
    expect([path, coding, kept]).toEqual([path, 'br', 'public, max-age=31536000, immutable'])
  }

  // The frame renders before the script, which is never delivered here.
  const slow = await context.newPage()
  await slow.route('**/*.js', (route) => (route.request().url().endsWith('/theme.js') ? route.continue() : undefined))
  await slow.goto(platform.handle.dashboard_url, { waitUntil: 'commit' })
  await expect(slow.locator('.sidebar')).toHaveText(/Homeport/)
  await expect.poll(() => slow.evaluate(() => performance.getEntriesByName('first-contentful-paint').length)).toBe(1)
  await context.close()
})
