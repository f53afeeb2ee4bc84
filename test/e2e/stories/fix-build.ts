import { expect } from '@playwright/test'
import { greetingAppFiles } from '../fixtures.ts'
import { type StoryContext, goTo, createReadyProject } from './story-context.ts'

/** A failed build shows where and why; the previous version keeps serving; it is fixed and deployed again. */
export async function fixBrokenBuild(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, bridge, createRepository } = story
  const repository = createRepository(greetingAppFiles('one'))
  await createReadyProject(story, { slug: 'fixed', name: 'Fixed', repo_url: repository.url })
  repository.commit(
    { 'build.js': `console.log('on the way')\nconsole.error('src/cart.ts:41 Error: cannot find ./prices.ts')\nprocess.exit(1)` },
    'Break it',
  )
  await goTo(story, 'projects/fixed')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Deploy', exact: true }))
  const failure = dashboard.getByTestId('failure')
  await expect(failure.getByRole('heading')).toContainText('build')
  await expect(failure.getByTestId('failure-line')).toContainText('cannot find ./prices.ts')
  await expect(failure).toContainText('build_failed')
  await expect(dashboard.locator('[data-testid=timeline-step][data-status=failed]')).toContainText('Build')
  await inputDriver.press(failure.getByRole('button', { name: 'Show in log' }))
  await expect(dashboard.locator('[data-testid=log-line][data-marked]')).toContainText('cannot find ./prices.ts')
  await expect(dashboard.locator('[data-testid=log-line][data-marked]')).toBeInViewport()
  const broken = dashboard.url()

  // The previous version keeps serving, and the overview shows both.
  await inputDriver.openTab('Overview')
  await expect(dashboard.getByRole('region', { name: 'Latest deployment' })).toContainText('The current version stays live')
  await expect(dashboard.getByTestId('project-title')).toContainText('Live')

  if (bridge) {
    // The desktop notifies about the end by itself, and a click opens it.
    expect(bridge.argumentsOf('notify')).toEqual([])
    await bridge.navigate(dashboard, new URL(broken).pathname.replace('/app', ''))
    await expect(dashboard).toHaveURL(broken)
    await expect(failure).toBeVisible()
  }

  repository.commit(greetingAppFiles('two'), 'Mend it')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Deploy', exact: true }))
  await expect(dashboard.getByTestId('report-head')).toContainText('Mend it')
  await expect(dashboard.getByTestId('report-head')).toContainText('Current')
  expect((await platform.fetchEdge('fixed.localhost')).body).toContain('two')
}
