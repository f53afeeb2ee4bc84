import type { Page } from '@playwright/test'
import type { DevSession } from '../../server/contract/dev.ts'
import type { Screen } from './screen.ts'

const server: DevSession = {
  id: 'dev_1',
  status: 'running',
  url: 'http://harbour-shop.localhost:4642',
  https_url: 'https://harbour-shop.localhost:4643',
  host: 'harbour-shop.localhost',
  is_production_address: true,
  folder: '/home/me/code/harbour-shop',
  branch: 'main',
  fork_branch: null,
  command: 'npm run dev -- --port 41234',
  framework: 'vite',
  port: 41_234,
  started_at: new Date(Date.now() - 720_000).toISOString(),
}
const ofBranch: DevSession = {
  ...server,
  id: 'dev_2',
  status: 'starting',
  url: 'http://feature-checkout-with-a-long-name--harbour-shop.localhost:4642',
  host: 'feature-checkout-with-a-long-name--harbour-shop.localhost',
  is_production_address: false,
  folder: '/home/me/code/worktrees/harbour-shop/feature-checkout-with-a-long-name',
  branch: 'feature/checkout-with-a-long-name',
  fork_branch: 'feature/checkout-with-a-long-name',
  port: 41_235,
}

async function withDevServers(page: Page): Promise<void> {
  await page.route('**/instance/projects/*/dev', (route) => route.fulfill({ json: { sessions: [server, ofBranch] } }))
}

export const devScreens: Screen[] = [
  { name: 'overview-dev', path: 'projects/harbour-shop', before: withDevServers },
  { name: 'overview-new-dev', path: 'projects/chart-room', before: withDevServers },
]
