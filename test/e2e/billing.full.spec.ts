import type { Page } from '@playwright/test'
import type { BillingStatus } from '../../server/contract/billing.ts'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { type StandIn, startStripe } from '../support/stripe-stand-in.ts'
import { expect, expectForEverybody, test } from './fixtures.ts'
import { signIn } from './stage.ts'

const section = (desk: Page) => desk.getByRole('region', { name: 'Plan and card' })
const statusOf = async (home: TestPlatform) => (await home.api<BillingStatus>('GET', '/v1/billing/status')).body

test('on one’s own machine plan, trial, card and address are played', async ({ desk, home }) => {
  await desk.goto(`${home.platform.dashboard_url}account?at=plan`)
  await expect(section(desk)).toContainText('enterprise')
  await expect(section(desk)).toContainText('Any number of projects')
  await section(desk).getByLabel('Plan', { exact: true }).selectOption('starter')
  await expect(section(desk)).toContainText('3 projects')
  await section(desk).getByLabel('Trial of pro').selectOption('3 days left')
  await expect(section(desk)).toContainText('All of pro for 3 more days')
  await expect(section(desk)).toContainText('50 projects')
  await section(desk).getByRole('switch', { name: 'Has a card' }).click()
  await expect(section(desk).getByRole('switch', { name: 'Has a card' })).not.toBeChecked()
  await expect.poll(() => statusOf(home)).toMatchObject({ plan: 'starter', has_payment_method: false })
  await expectForEverybody(desk, 'plan and card, played')

  // Without a card and a trial, what needs one says so, and leads back here.
  await home.api('PATCH', '/instance/settings', { plan: 'starter', trial_days: null, payment_method: false })
  await home.createProject({ slug: 'ferry', name: 'Ferry' })
  await desk.goto(`${home.platform.dashboard_url}projects/ferry/domains?do=add`)
  const adding = desk.getByRole('dialog', { name: 'Add a domain of your own' })
  await adding.getByLabel('Name').fill('ferry.example.com')
  await adding.getByRole('button', { name: 'Add it' }).click()
  await expect(adding.getByRole('alert')).toContainText('payment_method_required')
  await adding.getByRole('link', { name: 'your account' }).click()
  await expect(section(desk).getByRole('switch', { name: 'Has a card' })).not.toBeChecked()
  await home.api('PATCH', '/instance/settings', { plan: 'enterprise', payment_method: true })
})

test('with a payment processor a card is given in its own form, the plan changed, and the subscription ended', async ({ page }) => {
  const stripe = await startStripe()
  const home = await startTestPlatform({ runtime: 'process', stripe: stripe.options })
  try {
    const foreign = await standForStripe(page, stripe)
    await signIn(page, await home.platform.signInUrl())
    await page.goto(`${home.platform.dashboard_url}account?at=plan`)
    await expect(section(page)).toContainText('None')
    await expectForEverybody(page, 'no card yet')
    await section(page)
      .getByRole('button', { name: /(Choose a|Change the) plan…/ })
      .click()
    const choosing = page.getByRole('dialog', { name: 'Choose a plan' })
    await choosing.getByRole('radio', { name: /basic/ }).check()
    await expectForEverybody(page, 'plans')
    // Nothing foreign is fetched before the form is asked for.
    expect(foreign).toEqual([])
    await choosing.getByRole('button', { name: 'On to the card' }).click()
    await expect(page).toHaveURL(/\/account\/card\?plan=basic&interval=monthly$/)
    await expectForEverybody(page, 'the card form')

    // The processor refuses a card in its own words; the next one is saved.
    const form = page.getByRole('group', { name: 'Card' })
    await form.getByLabel('Card number').fill('4000000000000069')
    await page.getByRole('button', { name: 'Save the card' }).click()
    await expect(page.getByRole('alert')).toHaveText('Your card has expired.')
    await form.getByLabel('Card number').fill('4242424242424242')
    await page.getByRole('button', { name: 'Save the card' }).click()
    await expect(page.getByText('you have basic, billed monthly')).toBeVisible()
    expect(await statusOf(home)).toMatchObject({ plan: 'basic', card: { last4: '4242' }, subscription_status: 'active' })
    await page.getByRole('link', { name: 'Done' }).click()
    await expect(section(page)).toContainText('Visa ending in 4242')
    await expect(section(page)).toContainText('Paid')
    expect(await page.evaluate(() => 'Stripe' in window)).toBe(false)
    await expectForEverybody(page, 'paid')

    await section(page).getByRole('button', { name: 'Change the plan…' }).click()
    await choosing.getByRole('radio', { name: /^pro/ }).check()
    await choosing.getByRole('radio', { name: 'By the year' }).click()
    await choosing.getByRole('button', { name: 'Take pro' }).click()
    await expect(section(page)).toContainText('pro, billed yearly')

    await section(page).getByRole('button', { name: 'End the subscription…' }).click()
    await page.getByRole('dialog', { name: 'End the subscription?' }).getByRole('button', { name: 'End subscription' }).click()
    await expect(section(page)).toContainText('Ends with the period')
    await expect(section(page).getByRole('button', { name: 'End the subscription…' })).toBeHidden()
    await expectForEverybody(page, 'ends')
  } finally {
    await home.remove()
    await stripe.close()
  }
})

/** In the place of Stripe's script: a form of one field, which saves its card at the stand-in. Returns what was asked of it. */
async function standForStripe(page: Page, stripe: StandIn): Promise<string[]> {
  const asked: string[] = []
  await page.exposeFunction('saveAtStripe', (clientSecret: string, number: string) => {
    if (number.endsWith('0069')) return 'Your card has expired.'
    stripe.saveCard(clientSecret, { brand: 'visa', last4: number.slice(-4) })
    return null
  })
  await page.route(/^https:\/\/js\.stripe\.com\//, (route) => {
    asked.push(route.request().url())
    return route.fulfill({ contentType: 'text/javascript', body: `window.Stripe = ${String(stripeScript)}` })
  })
  return asked
}

/** Runs in the page. */
function stripeScript() {
  let number: HTMLInputElement
  return {
    elements: ({ clientSecret }: { clientSecret: string }) => ({
      clientSecret,
      create: () => {
        let ready = () => {}
        return {
          on: (event: string, tell: () => void) => void (event === 'ready' && (ready = tell)),
          mount(place: HTMLElement) {
            const label = document.createElement('label')
            label.textContent = 'Card number '
            number = document.createElement('input')
            label.append(number)
            place.replaceChildren(label)
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
