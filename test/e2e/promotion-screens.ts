import type { Page } from '@playwright/test'
import type { StoredPromotion } from '../../renderer/features/promotion/promotion-storage.ts'
import type { PromotionReportLine } from '../../server/client/promotion/report.ts'
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

const report: PromotionReportLine[] = [
  { item: 'Credentials for the registry registry.example.com', outcome: 'not_copied', note: 'Add them there: a password is never copied.' },
  { item: 'Variable STRIPE_KEY', outcome: 'not_copied', note: 'Its value is write-only. Set it there.' },
  {
    item: 'Files of the volume a-volume-with-a-rather-long-name-that-has-to-wrap',
    outcome: 'kept',
    note: 'The volume on the other instance has files. Choose to replace data to copy them.',
  },
  { item: 'PostgreSQL database', outcome: 'copied', note: 'Added without data.' },
  { item: 'Data of the PostgreSQL database', outcome: 'copied', note: 'Copied.' },
  { item: 'Redis', outcome: 'copied', note: 'Added without data.' },
  { item: 'Files of the volume uploads', outcome: 'copied', note: '218 files. A snapshot has those from before: snp_01m7z1ryy09z0mdyqssj23172a.' },
]

/** A promotion whose last step ended while no page was open: resuming it shows what became of each thing. */
async function withEndedPromotion(page: Page): Promise<void> {
  await withFakeRemote(page)
  const stored: StoredPromotion = {
    key: 'local harbour-shop',
    from: { id: 'local', slug: 'harbour-shop' },
    to: { id: 'rem_berth', slug: 'berth-shop' },
    request: {
      source: { kind: 'archive', deployment_id: 'dep_1' },
      new_name: null,
      settings: {},
      before: {},
      variables: ['API_URL'],
      parts: {
        services: ['redis'],
        catches_mail: false,
        has_database: true,
        added_volumes: [],
        volumes: ['uploads'],
        copies_database: true,
        copied_services: [],
        replaces_data: true,
      },
    },
    done: { deployment_id: 'dep_2', report },
    steps_done: ['project', 'services', 'volumes', 'database', 'variables', 'upload', 'deploy'],
    is_given_up: false,
  }
  await page.addInitScript((text) => localStorage.setItem('homeport.promotions', text), JSON.stringify([stored]))
  // The source is fetched again.
  await page.route('**/deployments/dep_1/source', (route) => route.fulfill({ contentType: 'application/gzip', body: 'archive' }))
}

async function resumePromotion(page: Page): Promise<void> {
  const card = page.getByRole('region', { name: 'harbour-shop to Berth' })
  await card.getByRole('button', { name: 'Resume' }).click()
  await card.getByRole('heading', { name: 'Not copied' }).waitFor()
}

export const promotionScreens: Screen[] = [
  { name: 'promote-data', path: 'projects/harbour-shop?do=promote', before: withServicesHere, act: chooseData },
  { name: 'promote-report', path: '', alters_page: true, before: withEndedPromotion, act: resumePromotion },
]
