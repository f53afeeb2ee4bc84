import type { Page, Route } from '@playwright/test'
import type { Volume } from '../../server/contract/volumes.ts'
import { openNewPromotion, withFakeRemote } from './fake-remote.ts'
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

/** This machine has services and volumes; Berth has the volumes alone, with files in them. */
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

/** Berth answers as if it had done everything. */
async function withWillingRemote(page: Page): Promise<void> {
  await withServicesHere(page)
  const answer = (path: RegExp, respond: (route: Route) => Promise<void>) => page.route(new RegExp(`/remote/rem_berth/${path.source}`), respond)
  const project = async (route: Route) => {
    const response = await route.fetch({ url: `${new URL(route.request().url()).origin}/v1/projects/harbour-shop`, method: 'GET' })
    await route.fulfill({ json: await response.json() })
  }
  await answer(/v1\/projects$/, (route) => (route.request().method() === 'POST' ? project(route) : route.fallback()))
  await answer(/v1\/projects\/berth-shop\/deployments/, (route) => route.fulfill({ json: { deployments: [], next_cursor: null } }))
  await answer(/v1\/projects\/berth-shop$/, (route) => (route.request().method() === 'PATCH' ? project(route) : route.fallback()))
  await answer(/instance\/projects\/berth-shop\/(settings|watching)$/, (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 404, json: { error: 'route_not_found', message: 'Nothing answers here.', request_id: 'req_1' } })
      : route.fallback(),
  )
  await answer(/instance\/projects\/berth-shop\/managed-services$/, (route) =>
    route.request().method() === 'POST' ? route.fulfill({ json: { service: {}, deployment_id: null } }) : route.fallback(),
  )
  await answer(/instance\/projects\/berth-shop\/volumes$/, (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ json: { volume: 'uploads', path: '/app/uploads', deployment_id: null } })
      : route.fulfill({ json: { volumes: [] } }),
  )
  await answer(/instance\/projects\/berth-shop\/volumes\/.*upload/, (route) => route.fulfill({ json: { files: 1204, size_bytes: 1, before: null } }))
  await page.route('**/volumes/*/download.tar.gz*', (route) => route.fulfill({ body: 'archive', contentType: 'application/gzip' }))
  await page.route('**/source', (route) => route.fulfill({ body: 'archive', contentType: 'application/gzip' }))
  await answer(/instance\/projects\/berth-shop\/upload/, async (route) => {
    const url = `${new URL(route.request().url()).origin}/v1/projects/harbour-shop/deployments?limit=1`
    const { deployments } = (await (await route.fetch({ url, method: 'GET' })).json()) as { deployments: { id: string }[] }
    await route.fulfill({ status: 201, json: { deployment_id: deployments[0]?.id, deployment: deployments[0] } })
  })
}

async function promoteWithData(page: Page): Promise<void> {
  await openNewPromotion(page)
  await page.getByRole('checkbox', { name: /^Volume uploads/ }).check()
  await page.getByRole('button', { name: 'Promote to Berth' }).click()
  await page.getByRole('region', { name: 'Not carried' }).waitFor()
}

export const promotionScreens: Screen[] = [
  { name: 'promote-data', path: 'projects/harbour-shop?do=promote', before: withServicesHere, act: chooseData },
  { name: 'promote-done', path: 'projects/harbour-shop?do=promote', alters_page: true, before: withWillingRemote, act: promoteWithData },
]
