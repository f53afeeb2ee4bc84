import type { Page } from '@playwright/test'
import type { Fork, ForkSource } from '../../server/contract/forks.ts'
import type { Screen } from './screen.ts'

const volumes = [
  { name: 'uploads', size_bytes: 2_415_919_104 },
  { name: 'managed-redis', size_bytes: 14_680_064 },
]
const production: ForkSource = { volumes, has_database: true }
const fork: Fork = {
  branch: 'feature/checkout',
  from_branch: null,
  volumes,
  database_bytes: 48_234_496,
  duration_ms: 412,
  created_at: new Date(Date.now() - 7_200_000).toISOString(),
  is_copying: false,
  url: 'http://feature-checkout--harbour-shop.localhost:4642',
}
const forks: Fork[] = [
  fork,
  { ...fork, branch: 'experiment/search-with-a-name-that-is-rather-long', from_branch: 'feature/checkout', url: null },
  { ...fork, branch: 'again', is_copying: true },
]

async function withForks(page: Page): Promise<void> {
  await page.route('**/instance/projects/*/forks', (route) => route.fulfill({ json: { forks, production } }))
}

export const forkScreens: Screen[] = [
  { name: 'previews-forks', path: 'projects/harbour-shop/previews', before: withForks },
  {
    name: 'previews-fork-dialog',
    path: 'projects/harbour-shop/previews',
    before: withForks,
    async act(page) {
      await page.getByRole('button', { name: 'Copy production data' }).click()
      await page.getByRole('combobox', { name: 'Branch' }).fill('feature/checkout')
    },
  },
  {
    name: 'previews-fork-remove',
    path: 'projects/harbour-shop/previews',
    before: withForks,
    act: (page) => page.getByRole('button', { name: 'Remove data of feature/checkout' }).click(),
  },
]
