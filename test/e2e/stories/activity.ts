import { expect } from '@playwright/test'
import { signIn } from '../screen-navigation.ts'
import { createReadyProject, goTo, type StoryContext } from './story-context.ts'

/** Something changes; after a reload and in another browser, the bell and the list of changes agree about it. */
export async function findOutWhatChanged(context: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, createRepository } = context
  const bell = dashboard.getByRole('button', { name: /^Notifications/ }).filter({ visible: true })
  await platform.api('POST', '/instance/activity/read', { id: await newestEntry(context) })
  await createReadyProject(context, { slug: 'noted', name: 'Noted', repo_url: createRepository({ 'index.html': '<h1>Noted</h1>' }).url })
  await platform.api('POST', '/v1/projects/noted/env-vars', {
    vars: ['API_KEY', 'MODE'].map((key) => ({ key, value: 'x', environment: 'preview' })),
  })

  await dashboard.reload()
  await expect(bell).toHaveAccessibleName('Notifications: 1 new')
  await inputDriver.press(bell)
  await expect(dashboard.getByRole('menuitem', { name: /Noted is ready/ })).toBeVisible()
  await dashboard.keyboard.press('Escape')
  await expect(bell).toHaveAccessibleName('Notifications')

  // What was read here is read everywhere.
  const other = await dashboard.context().browser()?.newContext()
  const page = await other?.newPage()
  if (!page) throw new Error('The browser is gone.')
  await signIn(page, await platform.handle.signInUrl())
  const otherBell = page.getByRole('button', { name: /^Notifications/ }).filter({ visible: true })
  await otherBell.click()
  await expect(page.getByRole('menuitem', { name: /Noted is ready/ })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(otherBell).toHaveAccessibleName('Notifications')
  await other?.close()

  await goTo(context, 'projects/noted/activity')
  const list = dashboard.getByRole('region', { name: 'Activity' })
  await expect(list.getByText('You set 2 variables (API_KEY, MODE)')).toBeVisible()
  await expect(list.getByText('You created the project')).toBeVisible()
  await inputDriver.choose(dashboard.getByLabel('Kind'), 'Deployments')
  await expect(list.getByText('You set 2 variables')).toHaveCount(0)
  await inputDriver.press(list.getByRole('link', { name: 'The deployment of main is ready' }))
  await expect(dashboard).toHaveURL(/\/projects\/noted\/deployments\/dpl_/)

  // Live: it appears without a reload.
  await goTo(context, 'activity')
  await expect(list.getByText('You set 2 variables (API_KEY, MODE)')).toBeVisible()
  await platform.api('PATCH', '/v1/projects/noted', { caching_enabled: false })
  await expect(list.getByText('You changed the setting caching_enabled of the project')).toBeVisible()
}

async function newestEntry({ platform }: StoryContext): Promise<string | undefined> {
  await platform.createProject({ slug: 'before' })
  const { body } = await platform.api<{ entries: { id: string }[] }>('GET', '/instance/activity?limit=1')
  return body.entries[0]?.id
}
