import { expect } from '@playwright/test'
import { greetingAppFiles } from '../fixtures.ts'
import { type StoryContext, goTo, createReadyProject } from './story-context.ts'

/** The previous version becomes live again, without a build. */
export async function rollBackDeployment(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, createRepository } = story
  const repository = createRepository(greetingAppFiles('old and good'))
  await createReadyProject(story, { slug: 'rolled', name: 'Rolled', repo_url: repository.url })
  repository.commit(greetingAppFiles('new and bad'), 'Make it worse')
  expect((await platform.waitForEnd('rolled', (await platform.deploy('rolled')).id)).status).toBe('ready')
  expect((await platform.fetchEdge('rolled.localhost')).body).toContain('new and bad')

  await goTo(story, 'projects/rolled')
  const dialog = dashboard.getByRole('dialog', { name: 'Roll back' })
  const more = dashboard.getByRole('button', { name: 'More actions' })
  // Closing the dialog returns to the same place.
  await inputDriver.pick(more, 'Roll back…')
  await inputDriver.press(dialog.getByRole('button', { name: 'Close' }))
  await inputDriver.expectClosed(dialog)
  await inputDriver.pick(more, 'Roll back…')
  await inputDriver.press(dialog.getByRole('listitem').filter({ hasText: 'First' }).getByRole('button', { name: 'Roll back…' }))
  // The last question says what it does, and to which version.
  const question = dashboard.getByRole('dialog', { name: 'Roll back to “First”?' })
  await expect(question).toContainText('Instant: the stored build starts again.')
  await expect(question.getByRole('definition').filter({ hasText: '(current) →' })).toBeVisible()
  await inputDriver.press(question.getByRole('button', { name: 'Roll back' }))
  await expect(dashboard.getByTestId('report-head')).toContainText('Rollback')
  await expect(dashboard.getByTestId('report-head')).toContainText('Current')
  expect((await platform.fetchEdge('rolled.localhost')).body).toContain('old and good')
}
