import type { Screen } from './screen.ts'
import { pickMenuItem, waitForDialog } from './screen-actions.ts'

/** Custom domains, and the sale of new ones. */
export const domainScreens: Screen[] = [
  { name: 'domains', path: 'projects/harbour-shop/domains' },
  { name: 'domains-none', path: 'projects/chart-room/domains' },
  { name: 'domains-every', path: 'domains' },
  { name: 'domains-add', path: 'projects/harbour-shop/domains?do=add', act: waitForDialog },
  {
    name: 'domains-offers',
    path: 'projects/harbour-shop/domains?do=buy',
    async act(page) {
      await page.getByLabel('Domain or word').fill('harbour')
      await page.keyboard.press('Enter')
      await page.getByRole('list', { name: 'Offers' }).waitFor()
    },
  },
  {
    name: 'domains-order',
    path: 'projects/harbour-shop/domains?do=buy',
    async act(page) {
      await page.getByLabel('Domain or word').fill('lighthouse.test')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Choose lighthouse.test' }).click()
      await page.getByRole('switch', { name: 'Add registrant details' }).click()
      await page.getByRole('group', { name: 'Registrant' }).waitFor()
    },
  },
  {
    name: 'domains-registration',
    path: 'projects/harbour-shop/domains',
    act: (page) => pickMenuItem(page, 'Actions for harbour.test', 'Registration…'),
  },
  {
    name: 'domains-transfer',
    path: 'projects/harbour-shop/domains',
    act: (page) => pickMenuItem(page, 'Actions for harbour.test', 'Transfer to another registrar…'),
  },
]
