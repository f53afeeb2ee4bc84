import { execFileSync } from 'node:child_process'
import { expect } from '@playwright/test'
import { isFullTier } from '../../support/tier.ts'
import { greetingAppFiles } from '../fixtures.ts'
import { type StoryContext, goTo, createReadyProject, openAppLink } from './story-context.ts'

/** A pushed branch appears by itself, is opened, its log read, and it closes with its branch. */
export async function openPreview(story: StoryContext): Promise<void> {
  const { dashboard, inputDriver, createRepository } = story
  const repository = createRepository(greetingAppFiles('on main'))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository.folder })
  await createReadyProject(story, { slug: 'quay', name: 'Quay', repo_url: repository.url, pushes: true })
  await goTo(story, 'projects/quay')
  await inputDriver.openTab('Deployments', { name: 'Previews', words: 'previews branches' })
  await expect(dashboard.getByRole('heading', { name: 'No open previews', exact: true })).toBeVisible()
  // Branches found by the first check are not new.
  await expect(dashboard.getByRole('region', { name: 'Automatic deployments' })).toContainText(/Watched.*Checked/)

  git('switch', '--quiet', '-c', 'feature/new-crane')
  repository.commit(greetingAppFiles('a new crane'), 'Lift twice as much')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Check now' }))
  const rows = dashboard.getByRole('region', { name: 'Previews' }).getByRole('listitem')
  const row = rows.filter({ hasText: 'feature/new-crane' })
  await expect(row).toContainText('Lift twice as much')
  await expect(row).toContainText('Live')
  expect(await openAppLink(story, row.getByRole('link', { name: /^feature-new-crane--quay\.localhost/ }))).toBe('a new crane')

  // It has a separate log.
  await inputDriver.press(row.getByRole('link', { name: 'Log of feature/new-crane' }))
  const whose = dashboard.getByLabel('Environment')
  await expect(whose).toHaveValue('feature/new-crane')
  await expect(dashboard.getByTestId('log-text').filter({ hasText: 'a new crane listens' })).toBeVisible()
  await inputDriver.choose(whose, 'Production')
  await expect(dashboard.getByTestId('log-text').filter({ hasText: 'on main listens' })).toBeVisible()
  await expect(dashboard.getByTestId('log-text').filter({ hasText: 'a new crane listens' })).toHaveCount(0)

  // Also on the overview; and removed from both with the branch.
  await inputDriver.openTab('Overview')
  await expect(rows).toHaveCount(1)
  if (isFullTier) {
    await inputDriver.press(row.getByRole('link', { name: 'Deployment of feature/new-crane, Live' }))
    await expect(dashboard).toHaveURL(/\/deployments\/dpl_/)
    await expect(dashboard.getByTestId('report-head')).toContainText('preview')
  }
  await inputDriver.openTab('Deployments', { name: 'Previews', words: 'previews branches' })
  git('switch', '--quiet', 'main')
  git('branch', '--quiet', '-D', 'feature/new-crane')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Check now' }))
  await expect(dashboard.getByRole('heading', { name: 'No open previews', exact: true })).toBeVisible()
  await inputDriver.openTab('Overview')
  await expect(rows).toHaveCount(0)
}
