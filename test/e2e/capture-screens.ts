import { expect, type Page } from '@playwright/test'
import type { CapturedExchange, OriginalResponse, ReplayedResponse } from '../../server/contract/request-captures.ts'
import { createLoggedRequest, requestScreens, withRequests } from './request-screens.ts'
import type { Screen } from './screen.ts'

const responseOf = (fee: number, total: number) => ({
  headers: [
    ['Content-Type', 'application/json'],
    ['X-Version', String(fee)],
    ['Set-Cookie', '***'],
  ] as [string, string][],
  body: JSON.stringify({ accepted: true, order: { id: 'ord_1042', fee, total }, ...(fee > 1 && { warnings: ['The fee is higher than usual.'] }) }),
  encoding: 'text' as const,
  is_truncated: false,
  omitted: null,
})

const captured: CapturedExchange = {
  request: {
    headers: [
      ['Host', 'harbour-shop.localhost'],
      ['Content-Type', 'application/json'],
      ['Authorization', '***'],
      ['Stripe-Event', 'checkout.session.completed'],
      ['User-Agent', 'Stripe/1.0 (+https://stripe.com/docs/webhooks)'],
    ],
    body: '{"id":"evt_1","type":"checkout.session.completed","data":{"order":"ord_1042","amount":4900,"card_number":"***","customer":{"email":"***"}}}',
    encoding: 'text',
    is_truncated: false,
    omitted: null,
  },
  response: responseOf(1, 50),
}
const original: OriginalResponse = { status: 200, duration_ms: 12.5, deployment_id: 'dpl_01m84kvc1a6jds9qv8r0rb8g9k', ...captured.response }
const replayed: ReplayedResponse = {
  request_id: 'req_01m84kvc1a6jds9qv8r0rb0001',
  host: 'dearer--harbour-shop.localhost',
  deployment_id: 'dpl_01m84kvc1a6jds9qv8r0rb8g9m',
  status: 202,
  duration_ms: 31.2,
  ...responseOf(2, 51),
}

const withCapture =
  (isOn: boolean) =>
  async (page: Page): Promise<void> => {
    await withRequests(12)(page)
    const until = isOn ? new Date(Date.now() + 1800_000).toISOString() : null
    await page.route('**/instance/projects/*/request-capture', (route) =>
      route.fulfill({
        json: { capture: { until, path: isOn ? '/webhooks' : null, method: isOn ? 'POST' : null, status: null, masked_fields: ['email'] } },
      }),
    )
    await page.route('**/instance/projects/*/requests/*/capture', (route) => route.fulfill({ json: { captured } }))
    await page.route('**/instance/projects/*/requests/*/replay', (route) => route.fulfill({ json: { original, replayed } }))
  }

const path = 'projects/harbour-shop/logs/requests'
const details = `${path}?request=${createLoggedRequest(0).id}`

/** The request log, without and with capture. */
export const requestLogScreens: Screen[] = [
  ...requestScreens,
  {
    name: 'requests-capturing',
    path,
    before: withCapture(true),
    act: (page) => expect(page.getByText('Capturing headers and bodies')).toBeVisible(),
  },
  {
    name: 'requests-capture',
    path,
    before: withCapture(false),
    async act(page) {
      await page.getByRole('button', { name: 'Capture requests…' }).click()
      await expect(page.getByRole('button', { name: 'Start capture' })).toBeVisible()
    },
  },
  {
    name: 'requests-captured',
    path: details,
    before: withCapture(true),
    async act(page) {
      const message = page.getByRole('dialog').getByRole('region', { name: 'Request', exact: true })
      await message.getByText('5 headers').click()
      await expect(message.getByText('Stripe-Event')).toBeVisible()
    },
  },
  {
    name: 'requests-replay',
    path: details,
    before: withCapture(true),
    async act(page) {
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Replay…' }).click()
      const earlier = dialog.getByRole('option', { name: /^Earlier version #/ }).first()
      await dialog.getByLabel('Send to').selectOption((await earlier.getAttribute('value')) ?? '')
      await expect(dialog.getByText('Starts this version for the replay')).toBeVisible()
      await dialog.getByRole('button', { name: 'Send request' }).click()
      await expect(dialog.getByText('The responses differ.')).toBeVisible()
      await dialog.getByText('The responses differ.').scrollIntoViewIfNeeded()
    },
  },
]
