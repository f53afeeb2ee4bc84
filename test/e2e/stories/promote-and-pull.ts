import { expect } from '@playwright/test'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { createTarGz } from '../../support/archives.ts'
import { isFullTier } from '../../support/tier.ts'
import { greetingAppFiles, uploadIntoVolume } from '../fixtures.ts'
import { type StoryContext, recordRequestUrls, goTo, createReadyProject } from './story-context.ts'

/** A project is promoted to another instance and deployed there, and one is pulled back. */
export async function promoteAndPull(story: StoryContext): Promise<void> {
  const { dashboard, platform, startSecondPlatform, inputDriver, bridge, createRepository } = story
  const remote = await startSecondPlatform()
  const repository = createRepository(greetingAppFiles('from the quay'))
  await createReadyProject(story, { slug: 'voyager', name: 'Voyager', repo_url: repository.url })
  await platform.api('PATCH', '/instance/projects/voyager/mail', { is_enabled: true })
  await platform.api('POST', '/instance/projects/voyager/volumes', { path: 'cargo' })
  await expect.poll(async () => (await newest('voyager')).finished_at).not.toBeNull()
  await uploadIntoVolume(platform, 'voyager', 'cargo', createTarGz([{ name: 'lantern.txt', data: 'lit' }]))
  await platform.api('POST', '/v1/projects/voyager/env-vars', { vars: [{ key: 'TIDES', value: 'high' }] })
  await expect.poll(async () => (await newest('voyager')).finished_at).not.toBeNull()
  const { token } = (await remote.api<{ token: string }>('POST', '/v1/tokens', { name: 'Of the quay' })).body

  await inputDriver.openInstances()
  await inputDriver.press(dashboard.getByRole('button', { name: 'Add instance' }))
  const adding = dashboard.getByRole('dialog', { name: 'Add instance' })
  await inputDriver.fill(adding.getByLabel('URL'), remote.handle.api_url)
  await inputDriver.fill(adding.getByLabel('API token'), token)
  await inputDriver.fill(adding.getByLabel('Name'), 'Lagoon')
  await inputDriver.press(adding.getByRole('button', { name: 'Add instance' }))
  await inputDriver.expectClosed(adding)
  await expect(dashboard.getByRole('list', { name: 'Instances' }).getByRole('listitem').filter({ hasText: 'Lagoon' })).toContainText('Online')
  const addresses = recordRequestUrls(dashboard)

  await goTo(story, 'projects/voyager')
  const dialog = dashboard.getByRole('dialog')
  // On a phone it is in the bar at the top.
  const front = dashboard.getByRole('region', { name: 'Remote instance' }).or(dashboard.getByRole('link', { name: /^Lagoon.*, projects$/ }))
  await inputDriver.pick(dashboard.getByRole('button', { name: 'More actions' }), 'Promote…')
  await expect(dialog.getByText('No project has this slug. A new project is created.')).toBeVisible()
  await inputDriver.press(dialog.getByRole('checkbox', { name: 'TIDES' }))
  await expect(dialog.getByRole('checkbox', { name: 'TIDES' })).toBeChecked()
  await expect(dialog.getByText('Added on Lagoon before the deployment: the mail catcher.')).toBeVisible()
  const cargo = dialog.getByRole('checkbox', { name: /^Volume cargo/ })
  await expect(cargo).not.toBeChecked()
  await inputDriver.press(cargo)
  await expect(cargo).toBeChecked()
  await inputDriver.press(dialog.getByRole('button', { name: 'Promote to Lagoon' }))
  await expect(dashboard).toHaveURL(/\/app\/on\/[^/]+\/projects\/voyager\/deployments\/dpl_/)
  await expect(front).toContainText('Lagoon')
  await expect(dashboard.getByTestId('report-head')).toContainText('Current')
  expect((await remote.fetchEdge('voyager.localhost')).body).toContain('from the quay')
  expect((await remote.api('GET', '/instance/projects/voyager/mail')).body).toMatchObject({ catcher: { is_enabled: true } })
  expect((await remote.api('GET', '/instance/projects/voyager/volumes/cargo/files')).body).toMatchObject({ entries: [{ name: 'lantern.txt' }] })
  const there = (await remote.api<{ env_vars: EnvVar[] }>('GET', '/v1/projects/voyager/env-vars')).body.env_vars
  expect(there.map(({ key, value }) => [key, value])).toEqual([['TIDES', 'high']])
  // The report stays visible until it is dismissed.
  const report = dashboard.getByRole('region', { name: 'voyager to Lagoon' })
  await expect(report.getByRole('region', { name: 'Copied', exact: true })).toContainText('Files of the volume cargo 1 file.')
  await expect(report.getByRole('region', { name: 'Not copied' })).toContainText('The repository Pushes are deployed here.')
  await inputDriver.press(report.getByRole('button', { name: 'Dismiss' }))
  await expect(report).toHaveCount(0)
  if (bridge) {
    // The dock showed the progress, and no longer does.
    const shown = bridge.argumentsOf('setProgress').map(([value]) => value)
    expect(shown.filter((value) => value !== null).length).toBeGreaterThan(0)
    expect(shown.at(-1)).toBeNull()
  }

  if (isFullTier) await pullBack()

  // From here on the page does not need the token, and does not have it.
  expect(addresses.filter((address) => address.includes(token))).toEqual([])
  expect(await dashboard.content()).not.toContain(token)
  expect(platform.log.filter((line) => line.includes(token))).toEqual([])

  /** `test/cli/promote.test.ts` pulls in both tiers. */
  async function pullBack() {
    // Projects of the remote are shown as if they were local; then the local ones again.
    await inputDriver.openTab('Overview')
    await expect(dashboard.getByTestId('project-title')).toContainText('Live')
    await inputDriver.switchTo('This machine', 1)
    await expect(dashboard).toHaveURL(platform.handle.dashboard_url)
    await expect(front).toHaveCount(0)

    // And back, after it was deleted here.
    await platform.api('DELETE', '/v1/projects/voyager')
    await inputDriver.switchTo('Lagoon', 2)
    await expect(front).toContainText('Lagoon')
    await inputDriver.press(dashboard.getByRole('list', { name: 'Projects' }).getByRole('link', { name: 'Voyager', exact: true }))
    await inputDriver.pick(dashboard.getByRole('button', { name: 'More actions' }), 'Pull to this machine…')
    await inputDriver.press(dialog.getByRole('button', { name: 'Pull to this machine' }))
    await expect(dashboard).toHaveURL(/\/app\/projects\/voyager\/deployments\/dpl_/)
    await expect(dashboard.getByTestId('report-head')).toContainText('Current')
    expect((await platform.fetchEdge('voyager.localhost')).body).toContain('from the quay')
  }
  async function newest(slug: string) {
    const { body } = await platform.api<{ deployments: { finished_at: string | null }[] }>('GET', `/v1/projects/${slug}/deployments?limit=1`)
    return body.deployments[0] ?? { finished_at: null }
  }
}
