import { expect } from '@playwright/test'
import { isFullTier } from '../../support/tier.ts'
import { startWebhookReceiver } from '../../support/webhook-receiver.ts'
import type { StoryContext } from './story-context.ts'

/** A webhook is added, tested, and hears of a failed deployment; a delivery is sent again. */
export async function addWebhookAndRedeliver({ dashboard, platform, inputDriver }: StoryContext): Promise<void> {
  const receiver = await startWebhookReceiver()
  try {
    await platform.createProject({ slug: 'lantern', name: 'Lantern', repo_url: 'file:///no/such/repository' })
    await dashboard.goto(`${platform.handle.dashboard_url}projects/lantern/notifications`)
    await inputDriver.press(dashboard.getByRole('button', { name: 'Add target' }))
    const adding = dashboard.getByRole('dialog', { name: 'Add target' })
    await inputDriver.choose(adding.getByLabel('Type'), 'Webhook')
    await inputDriver.fill(adding.getByLabel('URL', { exact: true }), receiver.url)
    await inputDriver.fill(adding.getByLabel('Name'), 'Status page')
    await inputDriver.press(adding.getByRole('button', { name: 'Add target' }))

    const secret = dashboard.getByRole('dialog', { name: 'Signing secret of “Status page”' })
    await expect(secret).toContainText('whsec_')
    await inputDriver.press(secret.getByRole('button', { name: 'Copy secret' }))
    await inputDriver.press(secret.getByRole('button', { name: 'Done' }))
    await inputDriver.expectClosed(secret)
    expect(await dashboard.content()).not.toContain('whsec_')

    const deliveries = dashboard.getByRole('list', { name: 'Recent deliveries' }).getByRole('listitem')
    await inputDriver.press(dashboard.getByRole('button', { name: 'Send test to Status page' }))
    await expect(deliveries.first()).toContainText('Delivered')
    expect(receiver.received).toHaveLength(1)

    // The target fails once; its delivery is repeated by the clock, and sent again by hand.
    receiver.statuses.push(503)
    const { id } = await platform.deploy('lantern')
    await platform.waitForEnd('lantern', id)
    // The page asks for deliveries every 15 seconds.
    if (isFullTier) await expect(deliveries.first()).toContainText('Deployment of Lantern failed', { timeout: 30_000 })
    await receiver.waitFor(2)
    await platform.advance(10_000)
    await receiver.waitFor(3)
    await dashboard.reload()
    await expect(deliveries.first()).toContainText('Deployment of Lantern failed')
    await expect(deliveries.first()).toContainText('2 attempts')
    await inputDriver.press(dashboard.getByRole('button', { name: 'Redeliver Deployment of Lantern failed' }))
    const requests = await receiver.waitFor(4)
    expect(new Set(requests.slice(1).map(({ headers }) => headers['homeport-delivery'])).size).toBe(1)
  } finally {
    await receiver.close()
  }
}
