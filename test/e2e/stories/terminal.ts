import { expect } from '@playwright/test'
import { greetingAppFiles } from '../fixtures.ts'
import { createReadyProject, goTo, type StoryContext } from './story-context.ts'

/** A shell is opened next to the live version; a command responds, another one is interrupted, and the exit code is shown. */
export async function useTerminal(story: StoryContext): Promise<void> {
  const { dashboard, inputDriver, createRepository } = story
  await createReadyProject(story, { slug: 'chandler', name: 'Chandler', repo_url: createRepository(greetingAppFiles('ahoy')).url })
  await goTo(story, 'projects/chandler')
  await inputDriver.pick(dashboard.getByRole('button', { name: 'More actions' }), 'Open terminal')
  await expect(dashboard.getByRole('heading', { name: 'Terminal' })).toBeVisible()
  await inputDriver.press(dashboard.getByRole('button', { name: 'Open shell' }))
  await expect(dashboard.getByText('Connected')).toBeVisible()

  // The shell has the focus at once.
  const screen = dashboard.getByTestId('terminal-screen')
  const run = async (command: string) => {
    await dashboard.keyboard.type(command)
    await dashboard.keyboard.press('Enter')
  }
  await run('echo "sum $((40 + 2))"; ls')
  await expect(screen).toContainText('sum 42')
  await expect(screen).toContainText('server.js')
  await run('echo "wai""ting"; sleep 1000; echo "not ""interrupted"')
  await expect(screen).toContainText('waiting')
  await dashboard.keyboard.press('Control+C')
  await run('echo "still ""there"')
  await expect(screen).toContainText('still there')
  await expect(screen).not.toContainText('not interrupted')
  await run('exit 7')
  await expect(dashboard.getByText('Exit code 7')).toBeVisible()

  await inputDriver.press(dashboard.getByRole('button', { name: 'Open again' }))
  await expect(dashboard.getByText('Connected')).toBeVisible()
  await expect(screen).not.toContainText('still there')

  // The terminal uses Tab for the shell; after Escape it moves the focus.
  const input = screen.getByRole('textbox')
  await expect(input).toBeFocused()
  await dashboard.keyboard.press('Tab')
  await expect(input).toBeFocused()
  await dashboard.keyboard.press('Escape')
  await dashboard.keyboard.press('Shift+Tab')
  await expect(input).not.toBeFocused()
  await inputDriver.press(dashboard.getByRole('button', { name: 'End shell' }))
  await expect(dashboard.getByText('Ended', { exact: true })).toBeVisible()
}
