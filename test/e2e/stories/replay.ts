import { execFileSync } from 'node:child_process'
import { expect } from '@playwright/test'
import { get } from '../../support/edge.ts'
import { waitForFirstCheck, waitForPreview } from '../../support/git-branches.ts'
import { type StoryContext, createReadyProject, goTo } from './story-context.ts'

const webhookApp = (fee: number) => ({
  'package.json': JSON.stringify({ name: 'payments', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
require('node:http').createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  request.resume().on('end', () => response.end(JSON.stringify({ accepted: true, fee: ${fee} })))
}).listen(process.env.PORT, process.env.HOST)
`,
})

/** A webhook is captured and sent to the preview of a branch, whose response differs. */
export async function replayWebhook(story: StoryContext): Promise<void> {
  const { dashboard, inputDriver, platform, createRepository } = story
  const repository = createRepository(webhookApp(1))
  await createReadyProject(story, { slug: 'payments', name: 'Payments', repo_url: repository.url, pushes: true })
  await waitForFirstCheck(platform, 'payments')
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository.folder, encoding: 'utf8' }).trim()
  git('switch', '--quiet', '-c', 'dearer')
  repository.commit(webhookApp(2), 'Raise the fee')
  const sha = git('rev-parse', 'HEAD')
  git('switch', '--quiet', 'main')
  await waitForPreview(platform, 'payments', 'dearer', sha)

  await goTo(story, 'projects/payments/logs/requests')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Capture requests…' }))
  await inputDriver.press(dashboard.getByRole('button', { name: 'Start capture' }))
  await expect(dashboard.getByText('Capturing headers and bodies until')).toBeVisible()

  await get(Number(new URL(platform.handle.edge_url).port), '/webhooks/paid', {
    host: 'payments.localhost',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer s3cret' },
    body: JSON.stringify({ order: 7, card_number: '4242' }),
  })
  await inputDriver.press(dashboard.getByRole('button', { name: /POST.*\/webhooks\/paid/ }))
  const dialog = dashboard.getByRole('dialog')
  await expect(dialog.getByRole('region', { name: 'Request' })).toContainText('"card_number": "***"')
  await expect(dialog.getByRole('region', { name: 'Response' })).toContainText('"fee": 1')
  await inputDriver.press(dialog.getByRole('button', { name: 'Replay…' }))
  await inputDriver.choose(dialog.getByLabel('Send to'), 'Preview of dearer')
  await inputDriver.press(dialog.getByRole('button', { name: 'Send request' }))
  await expect(dialog.getByText('The responses differ.')).toBeVisible()
  await expect(dialog.getByRole('row', { name: /fee/ })).toContainText(/1\s*2/)
  await expect(dialog.getByRole('region', { name: 'Replay' })).toContainText('"fee": 2')

  await inputDriver.press(dialog.getByRole('button', { name: 'Close' }))
  // The replay went to the host of the preview, which its row names.
  const replayed = dashboard.getByRole('button', { name: /POST.*dearer--payments\.localhost/ })
  await expect(replayed).toBeVisible()
  await inputDriver.press(dashboard.getByRole('button', { name: 'More', exact: true }))
  await inputDriver.choose(dashboard.getByLabel('Field'), 'Host')
  await inputDriver.fill(dashboard.getByLabel('Value'), 'payments.localhost')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Add filter' }))
  await expect(replayed).toBeHidden()
  await inputDriver.press(dashboard.getByRole('button', { name: 'Host payments.localhost' }))
  await expect(replayed).toBeVisible()
  await inputDriver.press(dashboard.getByRole('button', { name: 'Stop capture' }))
  await expect(dashboard.getByText('Headers and bodies are not captured.')).toBeVisible()
}
