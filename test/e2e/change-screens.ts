import { addFavorite, waitForDialog } from './screen-actions.ts'
import type { Screen } from './screen.ts'

/** The project list as a grid and in another order, unsaved changes of variables, the question before a rollback, and settings. */
export const changeScreens: Screen[] = [
  { name: 'projects-grid', path: '', act: (page) => page.getByRole('button', { name: 'Show as grid' }).click() },
  { name: 'projects-by-name', path: '?sort=name&status=live', act: addFavorite },
  {
    name: 'roll-back-question',
    path: 'projects/harbour-shop/deployments',
    async act(page) {
      await page
        .getByRole('button', { name: /^Roll back to/ })
        .first()
        .click()
      await page
        .getByRole('dialog')
        .getByText(/^(Instant|Rebuilds)/)
        .waitFor()
    },
  },
  {
    name: 'environment-changes',
    path: 'projects/harbour-shop/environment',
    // Unsaved changes stay in memory.
    alters_page: true,
    async act(page) {
      await page.getByRole('button', { name: 'Edit as text' }).click()
      const text = page.getByRole('dialog').getByLabel('Variables')
      await text.fill(`${await text.inputValue()}NEW_VARIABLE=1`)
      await page.getByRole('button', { name: 'Apply changes' }).click()
      await page.getByRole('checkbox').first().check()
      await page.getByRole('region', { name: 'Unsaved changes' }).waitFor()
    },
  },
  {
    name: 'environment-text',
    path: 'projects/harbour-shop/environment',
    // Unsaved changes stay in memory.
    alters_page: true,
    async act(page) {
      await page.getByRole('button', { name: 'Edit as text' }).click()
      await waitForDialog(page)
    },
  },
  {
    name: 'roll-back',
    path: 'projects/harbour-shop',
    async act(page) {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Roll back' }).click()
      await page.getByRole('button', { name: 'Roll back' }).first().waitFor()
    },
  },
  { name: 'instance-settings', path: 'instance/settings' },
]
