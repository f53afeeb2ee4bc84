import type { Page } from '@playwright/test'
import { findProcessesByCommand } from '../support/processes.ts'
import { expect, greetingAppFiles, test } from './fixtures.ts'

const screenOf = (dashboard: Page) => dashboard.getByTestId('terminal-screen')

async function run(dashboard: Page, command: string): Promise<void> {
  await dashboard.keyboard.type(command)
  await dashboard.keyboard.press('Enter')
}

async function openShell(dashboard: Page): Promise<void> {
  await dashboard.getByRole('button', { name: /^Open (shell|again)$/ }).click()
  await expect(dashboard.getByText('Connected')).toBeVisible()
}

test.beforeEach(async ({ platform, dashboard, createRepository }) => {
  await platform.createProject({ slug: 'chandler', name: 'Chandler', repo_url: createRepository(greetingAppFiles('ahoy')).url })
  expect((await platform.waitForEnd('chandler', (await platform.deploy('chandler')).id)).error).toBeNull()
  await dashboard.goto(`${platform.handle.dashboard_url}projects/chandler/terminal`)
})

test('a terminal follows the size of its window, copies, and respects the policy of the page', async ({ dashboard, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const violations: string[] = []
  dashboard.on('console', (message) => message.text().includes('Content Security Policy') && violations.push(message.text()))
  await openShell(dashboard)
  const columns = async (name: string) => {
    await run(dashboard, `echo "${name} $(stty size)"`)
    const shown = dashboard
      .getByTestId('terminal-screen')
      .getByText(new RegExp(`^${name} \\d+ \\d+`))
      .first()
    return Number(/ (\d+)\s*$/.exec((await shown.innerText()).trim())?.[1])
  }
  const wide = await columns('wide')
  expect(wide).toBeGreaterThan(80)
  await dashboard.setViewportSize({ width: 700, height: 820 })
  await expect.poll(() => columns('narrow')).toBeLessThan(wide)

  // A double click selects a word.
  await run(dashboard, 'clear; echo lantern')
  const word = screenOf(dashboard)
    .locator('.xterm-rows > div')
    .filter({ hasText: /^lantern$/ })
  // The emulator handles the mouse on a layer above its rows.
  await word.dblclick({ position: { x: 10, y: 8 }, force: true })
  await dashboard.keyboard.press('Control+Shift+C')
  await expect.poll(() => dashboard.evaluate(() => navigator.clipboard.readText())).toBe('lantern')
  await dashboard.evaluate(() => navigator.clipboard.writeText('echo "pas""ted"'))
  await dashboard.keyboard.press('Control+Shift+V')
  await dashboard.keyboard.press('Enter')
  await expect(screenOf(dashboard)).toContainText('pasted')
  expect(violations).toEqual([])
})

test('a shell ends with its page, its project and the session, and leaves nothing behind', async ({ dashboard, platform }) => {
  const start = async (mark: string) => {
    await openShell(dashboard)
    await run(dashboard, `node -e "setInterval(() => '${mark}', 1e6); console.log('wai' + 'ting')"`)
    await expect(screenOf(dashboard)).toContainText('waiting')
  }
  const expectGone = (mark: string) => expect.poll(() => findProcessesByCommand(mark)).toEqual([])
  await start('mark_of_page')
  await dashboard.getByRole('link', { name: 'Services', exact: true }).click()
  await expectGone('mark_of_page')

  await dashboard.goBack()
  await start('mark_of_project')
  await platform.api('POST', '/v1/projects/chandler/stop')
  await expect(dashboard.getByText('The project was stopped, and the command with it.')).toBeVisible()
  await expectGone('mark_of_project')
  await dashboard.getByRole('button', { name: 'Open again' }).click()
  await expect(dashboard.getByRole('alert')).toContainText('No version is live.')

  expect((await platform.waitForEnd('chandler', (await platform.deploy('chandler')).id)).error).toBeNull()
  await start('mark_of_session')
  await dashboard.evaluate(() =>
    fetch('/instance/sign-out', {
      method: 'POST',
      headers: { 'x-homeport-session': localStorage.getItem('homeport.session') ?? '', 'content-type': 'application/json' },
    }),
  )
  await platform.advance(3_000)
  await expectGone('mark_of_session')
  await expect(dashboard.getByRole('heading', { name: 'Sign in to Homeport' })).toBeVisible()
})
