import { statSync } from 'node:fs'
import { createZip } from '../support/archives.ts'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { addInstance, createToken } from './remote-instances.ts'
import { greetingAppFiles, expect, test } from './fixtures.ts'

let remote: TestPlatform

test.beforeAll(async () => {
  remote = await startTestPlatform({ runtime: 'process', screenshots: true })
})
test.afterAll(async () => remote.remove())

test('an archive is uploaded to another instance, and its screenshots and files are loaded from there', async ({ dashboard, platform }) => {
  const { token } = await createToken(remote)
  const instancePath = await addInstance(dashboard, platform, { url: remote.handle.api_url, token, name: 'Quay' })
  const at = (path: string) => new URL(instancePath, platform.handle.dashboard_url).href + path
  await dashboard.goto(at(''))
  // It has no local folder.
  await expect(dashboard.getByRole('radio', { name: 'Git URL' })).toBeVisible()
  await expect(dashboard.getByRole('radio', { name: 'Local folder' })).toHaveCount(0)
  await dashboard.getByRole('radio', { name: 'Archive' }).click()
  const buffer = createZip(Object.entries(greetingAppFiles('packed')).map(([name, data]) => ({ name, data })))
  await dashboard.locator('input[type=file]').first().setInputFiles({ name: 'packed.zip', mimeType: 'application/zip', buffer })
  await dashboard.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(dashboard).toHaveURL(new RegExp(`${instancePath}projects/packed/deployments/`))
  await expect(dashboard.getByRole('main')).toContainText('Ready')
  expect((await platform.api('GET', '/v1/projects/packed')).status).toBe(404)
  expect((await remote.getProject('packed')).status).toBe('live')

  await dashboard.goto(at('projects/packed'))
  const picture = dashboard.getByRole('img', { name: 'packed on a desktop screen' })
  await expect(picture).toBeVisible()
  // Its frame has space before the image has loaded.
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1280)

  await remote.api('POST', '/instance/backups')
  await dashboard.goto(at('instance/backups'))
  const [download] = await Promise.all([
    dashboard.waitForEvent('download'),
    dashboard
      .getByRole('button', { name: /^Download / })
      .first()
      .click(),
  ])
  expect(statSync(await download.path()).size).toBeGreaterThan(1000)
})
