import { execFileSync } from 'node:child_process'
import { expect } from '@playwright/test'
import { app } from '../fixtures.ts'
import { type Teller, goTo, serving, visit } from './teller.ts'

/** A branch that is pushed is there by itself, is opened and read, and goes with its branch. */
export async function previewOpened(teller: Teller): Promise<void> {
  const { desk, hand, repository } = teller
  const made = repository(app('on main'))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: made.folder })
  await serving(teller, { slug: 'quay', name: 'Quay', repo_url: made.url, pushes: true })
  await goTo(teller, 'projects/quay')
  await hand.openTab('Previews', 'previews branches')
  await expect(desk.getByRole('heading', { name: 'No open previews', exact: true })).toBeVisible()
  // The branches of the first look are no news.
  await expect(desk.getByRole('region', { name: 'Automatic deployments' })).toContainText(/Watched.*Looked/)

  git('switch', '--quiet', '-c', 'feature/new-crane')
  made.commit(app('a new crane'), 'Lift twice as much')
  await hand.press(desk.getByRole('button', { name: 'Check now' }))
  const rows = desk.getByRole('region', { name: 'Previews' }).getByRole('listitem')
  const row = rows.filter({ hasText: 'feature/new-crane' })
  await expect(row).toContainText('Lift twice as much')
  await expect(row).toContainText('Live')
  expect(await visit(teller, row.getByRole('link', { name: /^feature-new-crane--quay\.localhost/ }))).toBe('a new crane')

  // Its log is its own.
  await hand.press(row.getByRole('link', { name: 'Log of feature/new-crane' }))
  const whose = desk.getByLabel('Whose log')
  await expect(whose).toHaveValue('feature/new-crane')
  await expect(desk.locator('.log-text', { hasText: 'a new crane listens' })).toBeVisible()
  await hand.choose(whose, 'Production')
  await expect(desk.locator('.log-text', { hasText: 'on main listens' })).toBeVisible()
  await expect(desk.locator('.log-text', { hasText: 'a new crane listens' })).toHaveCount(0)

  // Also on the overview; and gone from both when the branch is.
  await hand.openTab('Overview')
  await expect(rows).toHaveCount(1)
  await hand.press(row.getByRole('link', { name: 'Deployment of feature/new-crane, Live' }))
  await expect(desk).toHaveURL(/\/deployments\/dpl_/)
  await expect(desk.locator('.report-head')).toContainText('preview')
  await hand.openTab('Previews', 'previews branches')
  git('switch', '--quiet', 'main')
  git('branch', '--quiet', '-D', 'feature/new-crane')
  await hand.press(desk.getByRole('button', { name: 'Check now' }))
  await expect(desk.getByRole('heading', { name: 'No open previews', exact: true })).toBeVisible()
  await hand.openTab('Overview')
  await expect(rows).toHaveCount(0)
}
