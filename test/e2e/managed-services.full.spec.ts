import { startTestPlatform } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

/** Shows its Redis address, and sends a message with HTML and an attachment, without a package. */
const app = {
  'package.json': JSON.stringify({ name: 'shop', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const net = require('node:net')
const { env } = process
const message = [
  'From: Harbour shop <shop@example.com>', 'To: ada@example.com', 'Subject: Your order 4711', 'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b', '', '--b', 'Content-Type: text/html', '',
  '<h1>Thank you</h1><script>document.title = "run"</script><img src="http://127.0.0.1:9/pixel">', '--b',
  'Content-Type: text/plain; name=terms.txt', 'Content-Disposition: attachment; filename=terms.txt', '', 'No returns.', '--b--', '.', '',
].join('\\r\\n')
const login = Buffer.from('\\0' + env.SMTP_USER + '\\0' + env.SMTP_PASSWORD).toString('base64')
const lines = () => ['EHLO app', 'AUTH PLAIN ' + login, 'MAIL FROM:<shop@example.com>', 'RCPT TO:<ada@example.com>', 'DATA', message, 'QUIT']
const send = () => new Promise((resolve, reject) => {
  const rest = lines()
  const socket = net.connect(Number(env.SMTP_PORT), env.SMTP_HOST)
  socket.on('data', (data) => /^\\d{3} .*\\r\\n$/m.test(data) && rest.length > 0 && socket.write(rest.shift() + '\\r\\n'))
  socket.on('end', resolve).on('error', reject)
})
require('node:http').createServer((request, response) => {
  if (request.url === '/send') return send().then(() => response.end('sent'), (error) => response.writeHead(500).end(String(error)))
  response.end(env.REDIS_HOST ?? 'none')
}).listen(env.PORT, env.HOST)
process.on('SIGTERM', () => process.exit(0))
`,
}

test('Redis is added and removed with a click', { tag: '@docker' }, async ({ page, createRepository }) => {
  test.skip(!requires('docker').ok || !requires('service-images').ok, requires('service-images').reason)
  const platform = await startTestPlatform({ runtime: 'docker' })
  try {
    await platform.createProject({ slug: 'shop', name: 'Harbour shop', repo_url: createRepository(app).url })
    expect((await platform.waitForEnd('shop', (await platform.deploy('shop')).id)).error).toBeNull()
    await signIn(page, await platform.handle.signInUrl())
    await page.goto(`${platform.handle.dashboard_url}projects/shop/services`)
    const services = page.getByRole('region', { name: 'Services', exact: true })
    await expect(services.getByText('This project is one app')).toHaveCount(0)
    await page.getByRole('button', { name: 'Add Redis' }).click()
    await expect(page.getByText('The app is running with the changed services.')).toBeVisible()
    expect((await platform.fetchEdge('shop.localhost')).body).toBe('redis')
    await expect(
      services
        .getByRole('listitem')
        .filter({ has: page.getByText('redis', { exact: true }) })
        .getByText('Running'),
    ).toBeVisible()

    await page.getByRole('button', { name: 'Remove Redis' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove Redis' }).click()
    await expect(page.getByText('Its data was kept and is used again when you add it.')).toBeVisible()
    await expect(page.getByText('The app is running with the changed services.')).toBeVisible()
    expect((await platform.fetchEdge('shop.localhost')).body).toBe('none')
  } finally {
    await platform.remove()
  }
})

test('caught mail is shown without scripts and remote content, and deleted', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'shop', name: 'Harbour shop', repo_url: createRepository(app).url })
  expect((await platform.waitForEnd('shop', (await platform.deploy('shop')).id)).error).toBeNull()
  const foreign: string[] = []
  dashboard.on('request', (request) => request.url().includes('pixel') && foreign.push(request.url()))
  await dashboard.goto(`${platform.handle.dashboard_url}projects/shop/mail`)
  await expect(dashboard.getByText('Turn on the mail catcher to see what apps send.')).toBeVisible()
  await dashboard.getByRole('switch', { name: 'Catch mail' }).click()
  await expect(dashboard.getByText('The app is running with the changed SMTP variables.')).toBeVisible()

  expect((await platform.fetchEdge('shop.localhost', '/send')).body).toBe('sent')
  // The list follows the instance's events.
  await dashboard.getByRole('link', { name: 'Your order 4711' }).click()
  const message = dashboard.getByRole('article', { name: 'Your order 4711' })
  const frame = message.frameLocator('iframe')
  await expect(frame.getByRole('heading', { name: 'Thank you' })).toBeVisible()
  await expect(frame.locator('script')).toHaveCount(0)
  await message.getByRole('radio', { name: 'Headers' }).click()
  await expect(message.getByText('shop@example.com').first()).toBeVisible()
  await expectAccessible(dashboard, 'a caught message')
  const [download] = await Promise.all([dashboard.waitForEvent('download'), message.getByRole('button', { name: 'Download terms.txt' }).click()])
  expect(download.suggestedFilename()).toBe('terms.txt')
  await message.getByRole('button', { name: 'Delete' }).click()
  await expect(dashboard.getByText('A message appears here as soon as an app sends it.')).toBeVisible()
  expect(foreign).toEqual([])
})
