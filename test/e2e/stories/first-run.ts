import { expect } from '@playwright/test'
import { app } from '../fixtures.ts'
import { type Teller, visit } from './teller.ts'

/** From nothing to an address that answers. */
export async function firstRun(teller: Teller): Promise<void> {
  const { desk, home, hand, bridge, repository } = teller
  const made = repository(app('Hello, harbour'))
  await expect(desk.getByRole('heading', { name: 'Deploy your first app', exact: true })).toBeVisible()
  await expect(desk.getByText('Running without containers')).toBeVisible()
  if (bridge) {
    // A dialog that is closed without a choice changes nothing.
    bridge.folders.push(null, made.folder)
    const choose = desk.getByRole('button', { name: 'Choose…', exact: true })
    const folder = desk.getByRole('textbox', { name: 'Folder' })
    await hand.press(choose)
    await expect.poll(() => bridge.given('chooseFolder')).toHaveLength(1)
    await expect(folder).toHaveValue('')
    await hand.press(choose)
    await expect(folder).toHaveValue(made.folder)
  } else {
    await expect(desk.getByRole('button', { name: 'Choose…', exact: true })).toHaveCount(0)
    await hand.press(desk.getByRole('radio', { name: 'Git address' }))
    await hand.fill(desk.getByRole('textbox', { name: 'Git address' }), made.url)
  }
  await hand.fill(desk.getByRole('textbox', { name: 'Name', exact: true }), 'My Grand Café')
  await expect(desk.getByLabel('Slug')).toHaveValue('my-grand-cafe')
  await expect(desk.getByText(/Will be at my-grand-cafe\.localhost:\d+/)).toBeVisible()
  await hand.press(desk.getByRole('button', { name: 'Deploy', exact: true }))

  await expect(desk).toHaveURL(/\/projects\/my-grand-cafe\/deployments\/dpl_/)
  await expect(desk.getByRole('list', { name: 'Steps' })).toContainText('Health check')
  const head = desk.locator('.report-head')
  await expect(head.getByText('Ready')).toBeVisible()
  await expect(desk.locator('.log-text', { hasText: 'compiled Hello, harbour' })).toBeVisible()
  await expect(head.getByText('Current')).toBeVisible()

  const open = head.getByRole('link', { name: 'Open' })
  await expect(open).toHaveAttribute('href', `http://my-grand-cafe.localhost:${new URL(home.platform.edge_url).port}/`)
  expect(await visit(teller, open)).toBe('Hello, harbour')

  await hand.openPage('Projects', 'all projects')
  const row = desk.getByRole('list', { name: 'Projects' }).getByRole('listitem').filter({ hasText: 'My Grand Café' })
  await expect(row).toContainText('Live')
  await expect(row).toContainText('Node.js')
}
