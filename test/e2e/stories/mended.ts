import { expect } from '@playwright/test'
import { app } from '../fixtures.ts'
import { type Teller, goTo, serving } from './teller.ts'

/** A build that breaks says where and why; what served goes on; it is mended and deployed again. */
export async function brokenAndMended(teller: Teller): Promise<void> {
  const { desk, home, hand, bridge, repository } = teller
  const made = repository(app('one'))
  await serving(teller, { slug: 'mended', name: 'Mended', repo_url: made.url })
  made.commit(
    { 'build.js': `console.log('on the way')\nconsole.error('src/cart.ts:41 Error: cannot find ./prices.ts')\nprocess.exit(1)` },
    'Break it',
  )
  await goTo(teller, 'projects/mended')
  await hand.press(desk.getByRole('button', { name: 'Deploy', exact: true }))
  const failure = desk.locator('.failure')
  await expect(failure.getByRole('heading')).toContainText('build')
  await expect(failure.locator('.failure-line')).toContainText('cannot find ./prices.ts')
  await expect(failure).toContainText('build_failed')
  await expect(desk.locator('.passage-failed')).toContainText('Build')
  await hand.press(failure.getByRole('button', { name: 'Show it in the log' }))
  await expect(desk.locator('.log-marked')).toContainText('cannot find ./prices.ts')
  await expect(desk.locator('.log-marked')).toBeInViewport()
  const broken = desk.url()

  // What served before goes on serving, and the overview says both.
  await hand.openTab('Overview')
  await expect(desk.getByRole('region', { name: 'Newest deployment' })).toContainText('The current version stays live')
  await expect(desk.locator('.project-title')).toContainText('Live')

  if (bridge) {
    // The desktop tells how it ended by itself, and leads there when that is clicked.
    expect(bridge.given('notify')).toEqual([])
    await bridge.navigate(desk, new URL(broken).pathname.replace('/app', ''))
    await expect(desk).toHaveURL(broken)
    await expect(failure).toBeVisible()
  }

  made.commit(app('two'), 'Mend it')
  await hand.press(desk.getByRole('button', { name: 'Deploy', exact: true }))
  await expect(desk.locator('.report-head')).toContainText('Mend it')
  await expect(desk.locator('.report-head')).toContainText('Current')
  expect((await home.edge('mended.localhost')).body).toContain('two')
}
