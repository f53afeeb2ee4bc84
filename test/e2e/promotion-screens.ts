import type { Page } from '@playwright/test'
import type { Volume } from '../../server/contract/volumes.ts'
import { withFakeRemote } from './fake-remote.ts'
import type { Screen } from './screen.ts'

const volume = (name: string, size_bytes: number | null): Volume => ({
  name,
  size_bytes,
  used_by: [{ service: 'web', path: `/app/${name}`, is_read_only: false }],
  snapshots: [],
  added: { service: null, path: `/app/${name}` },
})
const volumes = [volume('uploads', 48_213_000), volume('managed-redis', null), volume('a-volume-with-a-rather-long-name-that-has-to-wrap', 812)]
const service = { label: '', summary: '', image: '', variables: [], has_data: false, added_at: null }

/** This machine has services and volumes; Berth has only the volumes, with files in them. */
async function withServicesHere(page: Page): Promise<void> {
  await withFakeRemote(page)
  await page.route('**/instance/projects/*/volumes', (route) => route.fulfill({ json: { volumes } }))
  await page.route('**/instance/projects/*/managed-services', (route) => {
    const is_added = !route.request().url().includes('/remote/')
    const services = (['redis', 'mariadb'] as const).map((name) => ({ ...service, name, is_added }))
    return route.fulfill({ json: { services, unavailable: null } })
  })
  await page.route('**/instance/projects/*/registries', (route) =>
    route.fulfill({
      json: { registries: [{ host: 'registry.example.com', username: 'me', created_at: '2026-01-31T12:00:00.000Z' }], docker_login: [] },
    }),
  )
}

async function chooseData(page: Page): Promise<void> {
  await page.getByRole('checkbox', { name: /^Volume uploads/ }).check()
  await page.getByText('It is kept unless you replace it.').scrollIntoViewIfNeeded()
}

export const promotionScreens: Screen[] = [
  { name: 'promote-data', path: 'projects/harbour-shop?do=promote', before: withServicesHere, act: chooseData },
]
