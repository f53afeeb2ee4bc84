import type { Page } from '@playwright/test'
import type { BillingStatus } from '../../server/contract/billing.ts'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { type FakeStripe, startFakeStripe } from '../support/fake-stripe.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

const section = (dashboard: Page) => dashboard.getByRole('region', { name: 'Plan and card' })
const statusOf = async (platform: TestPlatform) => (await platform.api<BillingStatus>('GET', '/v1/billing/status')).body

test('without a payment processor plan, trial, card and address are emulated', async ({ dashboard, platform }) => {
  await dashboard.goto(`${platform.handle.dashboard_url}account?at=plan`)
  await expect(section(dashboard)).toContainText('Enterprise')
  await expect(section(dashboard)).toContainText('Unlimited projects')
  await section(dashboard).getByLabel('Plan', { exact: true }).selectOption('starter')
  await expect(section(dashboard)).toContainText('3 projects')
  await section(dashboard).getByLabel('Pro trial').selectOption('3 days left')
  await expect(section(dashboard)).toContainText('Pro for 3 more days')
  await expect(section(dashboard)).toContainText('50 projects')
  await section(dashboard).getByRole('switch', { name: 'Has a card' }).click()
  await expect(section(dashboard).getByRole('switch', { name: 'Has a card' })).not.toBeChecked()
  await expect.poll(() => statusOf(platform)).toMatchObject({ plan: 'starter', has_payment_method: false })
  await expectAccessible(dashboard, 'plan and card, played')

  // Features that need a card or a trial say so, and link back here.
  await platform.api('PATCH', '/instance/settings', { plan: 'starter', trial_days: null, payment_method: false })
  await platform.createProject({ slug: 'ferry', name: 'Ferry' })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/ferry/domains?do=add`)
  const adding = dashboard.getByRole('dialog', { name: 'Add domain' })
  await adding.getByLabel('Domain').fill('ferry.example.com')
  await adding.getByRole('button', { name: 'Add domain' }).click()
  await expect(adding.getByRole('alert')).toContainText('payment_method_required')
  await adding.getByRole('link', { name: 'your account' }).click()
  await expect(section(dashboard).getByRole('switch', { name: 'Has a card' })).not.toBeChecked()
  await platform.api('PATCH', '/instance/settings', { plan: 'enterprise', payment_method: true })
})

test('with a payment processor a card is entered in its own form, the plan changed, and the subscription canceled', async ({ page }) => {
  const stripe = await startFakeStripe()
  const platform = await startTestPlatform({ runtime: 'process', stripe: stripe.options })
  try {
    const foreign = await routeStripeToFake(page, stripe)
    await signIn(page, await platform.handle.signInUrl())
    await page.goto(`${platform.handle.dashboard_url}account?at=plan`)
    await expect(section(page)).toContainText('None')
    await expectAccessible(page, 'no card yet')
    await section(page)
      .getByRole('button', { name: /(Choose|Change) plan…/ })
      .click()
    const choosing = page.getByRole('dialog', { name: 'Choose a plan' })
    await choosing.getByRole('radio', { name: /^Basic/ }).check()
    await expectAccessible(page, 'plans')
    // No foreign script is loaded before the form is opened.
    expect(foreign).toEqual([])
    await choosing.getByRole('button', { name: 'Continue to card' }).click()
    await expect(page).toHaveURL(/\/account\/card\?plan=basic&interval=monthly$/)
    await expectAccessible(page, 'the card form')

    // The processor refuses a card with its own message; the next one is saved.
    const form = page.getByRole('group', { name: 'Card' })
    await form.getByLabel('Card number').fill('4000000000000069')
    await page.getByRole('button', { name: 'Save card' }).click()
    await expect(page.getByRole('alert')).toHaveText('Your card has expired.')
    await form.getByLabel('Card number').fill('4242424242424242')
    await page.getByRole('button', { name: 'Save card' }).click()
    await expect(page.getByText('You are on Basic, billed monthly')).toBeVisible()
    expect(await statusOf(platform)).toMatchObject({ plan: 'basic', card: { last4: '4242' }, subscription_status: 'active' })
    await page.getByRole('link', { name: 'Done' }).click()
    await expect(section(page)).toContainText('Visa ending in 4242')
    await expect(section(page)).toContainText('Active')
    expect(await page.evaluate(() => 'Stripe' in window)).toBe(false)
    await expectAccessible(page, 'paid')

    await section(page).getByRole('button', { name: 'Change plan…' }).click()
    await choosing.getByRole('radio', { name: /^Pro/ }).check()
    await choosing.getByRole('radio', { name: 'Yearly' }).click()
    await choosing.getByRole('button', { name: 'Switch to Pro' }).click()
    await expect(section(page)).toContainText('Pro, billed yearly')

    await section(page).getByRole('button', { name: 'Cancel subscription…' }).click()
    await page.getByRole('dialog', { name: 'Cancel subscription?' }).getByRole('button', { name: 'Cancel subscription' }).click()
    await expect(section(page)).toContainText('Ends after this period')
    await expect(section(page).getByRole('button', { name: 'Cancel subscription…' })).toBeHidden()
    await expectAccessible(page, 'ends')
  } finally {
    await platform.remove()
    await stripe.close()
  }
})

/** Replaces Stripe's script: a form of one field, which saves its card at the fake. Returns the calls that it received. */
async function routeStripeToFake(page: Page, stripe: FakeStripe): Promise<string[]> {
  const requested: string[] = []
  await page.exposeFunction('saveAtStripe', (clientSecret: string, number: string) => {
    if (number.endsWith('0069')) return 'Your card has expired.'
    stripe.saveCard(clientSecret, { brand: 'visa', last4: number.slice(-4) })
    return null
  })
  await page.route(/^https:\/\/js\.stripe\.com\//, (route) => {
    requested.push(route.request().url())
    return route.fulfill({ contentType: 'text/javascript', body: `window.Stripe = ${String(fakeStripeScript)}` })
  })
  return requested
}

/** Runs in the page. */
function fakeStripeScript() {
  let number: HTMLInputElement
  return {
    elements: ({ clientSecret }: { clientSecret: string }) => ({
      clientSecret,
      create: () => {
        let ready = () => {}
        return {
          on: (event: string, tell: () => void) => void (event === 'ready' && (ready = tell)),
          mount(container: HTMLElement) {
            const label = document.createElement('label')
            label.textContent = 'Card number '
            number = document.createElement('input')
            label.append(number)
            container.replaceChildren(label)
            setTimeout(() => ready())
          },
          destroy: () => {},
        }
      },
    }),
    async confirmSetup({ elements }: { elements: { clientSecret: string } }) {
      const save = (window as unknown as { saveAtStripe(secret: string, number: string): Promise<string | null> }).saveAtStripe
      const message = await save(elements.clientSecret, number.value)
      return message === null ? {} : { error: { message } }
    },
  }
}
