import { expect } from '@playwright/test'
import { greetingAppFiles } from '../fixtures.ts'
import { type StoryContext, openAppLink } from './story-context.ts'

/** From an empty instance to a responding URL. */
export async function completeFirstRun(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, bridge, createRepository } = story
  const repository = createRepository(greetingAppFiles('Hello, harbour'))
  await expect(dashboard.getByRole('heading', { name: 'Deploy your first app', exact: true })).toBeVisible()
  await expect(dashboard.getByText('Running without containers')).toBeVisible()
  if (bridge) {
    // Closing a dialog without a choice changes nothing.
    bridge.folders.push(null, repository.folder)
    const choose = dashboard.getByRole('button', { name: 'Choose…', exact: true })
    const folder = dashboard.getByRole('textbox', { name: 'Folder' })
    await inputDriver.press(choose)
    await expect.poll(() => bridge.argumentsOf('chooseFolder')).toHaveLength(1)
    await expect(folder).toHaveValue('')
    await inputDriver.press(choose)
    await expect(folder).toHaveValue(repository.folder)
  } else {
    await expect(dashboard.getByRole('button', { name: 'Choose…', exact: true })).toHaveCount(0)
    await inputDriver.press(dashboard.getByRole('radio', { name: 'Git URL' }))
    await inputDriver.fill(dashboard.getByRole('textbox', { name: 'Git URL' }), repository.url)
  }
  await inputDriver.fill(dashboard.getByRole('textbox', { name: 'Name', exact: true }), 'My Grand Café')
  await expect(dashboard.getByLabel('Slug')).toHaveValue('my-grand-cafe')
  await expect(dashboard.getByText(/URL: my-grand-cafe\.localhost:\d+/)).toBeVisible()
  await inputDriver.press(dashboard.getByRole('button', { name: 'Deploy', exact: true }))

  await expect(dashboard).toHaveURL(/\/projects\/my-grand-cafe\/deployments\/dpl_/)
  await expect(dashboard.getByRole('list', { name: 'Steps' })).toContainText('Health check')
  const head = dashboard.getByTestId('report-head')
  await expect(head.getByText('Ready')).toBeVisible()
  await expect(dashboard.getByTestId('log-text').filter({ hasText: 'compiled Hello, harbour' })).toBeVisible()
  await expect(head.getByText('Current')).toBeVisible()

  const open = head.getByRole('link', { name: 'Open' })
  await expect(open).toHaveAttribute('href', `http://my-grand-cafe.localhost:${new URL(platform.handle.edge_url).port}/`)
  expect(await openAppLink(story, open)).toBe('Hello, harbour')

  await inputDriver.openPage('Projects', 'all projects')
  const row = dashboard.getByRole('list', { name: 'Projects' }).getByRole('listitem').filter({ hasText: 'My Grand Café' })
  await expect(row).toContainText('Live')
  await expect(row).toContainText('Node.js')
}
