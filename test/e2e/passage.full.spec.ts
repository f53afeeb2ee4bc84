import { statSync } from 'node:fs'
import { zipOf } from '../support/archives.ts'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { addInstance, makeToken } from './elsewhere.ts'
import { app, expect, test } from './fixtures.ts'

let far: TestPlatform

test.beforeAll(async () => {
  far = await startTestPlatform({ runtime: 'process', screenshots: true })
})
test.afterAll(async () => far.remove())

test('an archive goes up to another instance, its pictures come back, and so do files', async ({ desk, home }) => {
  const { token } = await makeToken(far)
  const front = await addInstance(desk, home, { url: far.platform.api_url, token, name: 'Quay' })
  const at = (path: string) => new URL(front, home.platform.dashboard_url).href + path
  await desk.goto(at(''))
  // No folder of this machine lies there.
  await expect(desk.getByRole('radio', { name: 'Git address' })).toBeVisible()
  await expect(desk.getByRole('radio', { name: 'Local folder' })).toHaveCount(0)
  await desk.getByRole('radio', { name: 'Archive' }).click()
  const buffer = zipOf(Object.entries(app('packed')).map(([name, data]) => ({ name, data })))
  await desk.locator('input[type=file]').first().setInputFiles({ name: 'packed.zip', mimeType: 'application/zip', buffer })
  await desk.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(desk).toHaveURL(new RegExp(`${front}projects/packed/deployments/`))
  await expect(desk.getByRole('main')).toContainText('Ready')
  expect((await home.api('GET', '/v1/projects/packed')).status).toBe(404)
  expect((await far.project('packed')).status).toBe('live')

  await desk.goto(at('projects/packed'))
  const picture = desk.getByRole('img', { name: 'packed on a desktop screen' })
  await expect(picture).toBeVisible()
  // Its frame stands before it has come.
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1280)

  await far.api('POST', '/instance/backups')
  await desk.goto(at('instance/backups'))
  const [download] = await Promise.all([
    desk.waitForEvent('download'),
    desk
      .getByRole('button', { name: /^Download / })
      .first()
      .click(),
  ])
  expect(statSync(await download.path()).size).toBeGreaterThan(1000)
})
