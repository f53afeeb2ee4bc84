import type { Page } from '@playwright/test'
import type { Remote } from '../../server/contract/remotes.ts'

const fakeRemote: Remote = {
  id: 'rem_berth',
  name: 'Berth',
  origin: 'https://berth.example.com',
  hue: 20,
  is_signed_in: true,
  keeps_token: 'session',
  created_at: '2026-01-31T12:00:00.000Z',
}

/** A remote “Berth” for screens: this instance itself responds in its place. */
export async function withFakeRemote(page: Page): Promise<void> {
  await page.route('**/instance/remotes', (route) => route.fulfill({ json: { remotes: [fakeRemote] } }))
  await page.route('**/remote/rem_berth/**', (route) => route.continue({ url: route.request().url().replace('/remote/rem_berth', '') }))
}

/** Opens the promotion to Berth with a free slug, and scrolls to the differences. */
export async function openNewPromotion(page: Page): Promise<void> {
  await page.getByLabel('Target project').fill('berth-shop')
  await page.getByText('No project has this slug').waitFor()
}

/** A promotion to Berth up to the source, whose upload ends with `answer` or never. */
export async function startPromotion(page: Page, outcome: 'waits' | 'gone'): Promise<void> {
  await page.route('**/source', (route) =>
    outcome === 'waits'
      ? undefined
      : route.fulfill({
          status: 404,
          json: {
            error: 'source_not_found',
            message: 'The archive is no longer stored. Upload it again.',
            request_id: 'req_01m7z1ryy09z0mdyqssj23172a',
          },
        }),
  )
  await openNewPromotion(page)
  await page.getByRole('button', { name: 'Promote to Berth' }).click()
  const card = page.getByRole('region', { name: 'harbour-shop to Berth' })
  await card.getByRole(outcome === 'waits' ? 'progressbar' : 'alert').waitFor()
}
