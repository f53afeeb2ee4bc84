import { screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import CardPage from '../../../renderer/features/account/card-page.tsx'
import { billingStatus } from '../../../server/contract/billing.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const billing = createExample(billingStatus, { publishable_key: 'pk_1' })
const setup = { client_secret: 'seti_1', customer_id: 'cus_1' }
const formText = (plan: string, interval: string) =>
  `Back to account Payment card For the plan ${plan}, billed ${interval}. The fields below are provided by Stripe: your card details go directly to Stripe and never pass through this instance. [Card]`
const noForm = (text: string) => `Back to account Payment card ${text}`

const stubScript = (event: 'load' | 'error') =>
  vi.spyOn(document.head, 'append').mockImplementation((...nodes) => {
    for (const node of nodes) queueMicrotask(() => node instanceof Element && node.dispatchEvent(new Event(event)))
  })

/** The script of Stripe that loads, with a form that becomes ready or fails. */
function stubStripe({ formEvent = 'ready', saves = [{}] }: { formEvent?: 'ready' | 'loaderror'; saves?: { error?: { message?: string } }[] } = {}) {
  stubScript('load')
  const left = [...saves]
  const listeners = new Map<string, () => void>()
  const form = { on: (event: string, tell: () => void) => listeners.set(event, tell), mount: () => listeners.get(formEvent)?.(), destroy: vi.fn() }
  const elements = vi.fn(() => ({ create: () => form }))
  const confirmSetup = vi.fn(async (_: { confirmParams: { return_url: string } }) => left.shift() ?? {})
  const stripe = vi.fn(() => ({ elements, confirmSetup }))
  vi.stubGlobal('Stripe', stripe)
  return { stripe, elements, confirmSetup, destroy: form.destroy }
}
const renderCard = (answers: PartOptions['answers'] = {}, own: Partial<typeof billing> = {}) =>
  renderPart(<CardPage />, { data: [[queryKeys.billing, { ...billing, ...own }]], answers })
const button = (name: string) => screen.getByRole('button', { name })
const isEnabled = () => expect(button('Save card')).toHaveProperty('disabled', false)

beforeEach(() => history.replaceState(null, '', '/app/account/card?plan=pro&interval=yearly'))
afterEach(() => {
  vi.restoreAllMocks()
  delete document.documentElement.dataset.theme
})

test('a script that cannot be loaded says so', async () => {
  stubScript('error')
  const { text } = renderCard({ createSetupIntent: setup })
  expect(await screen.findByRole('alert')).toBeTruthy()
  expect(text()).toBe(
    `${formText('Pro', 'yearly')} The payment processor’s script could not be loaded. Check that this machine can reach js.stripe.com, then reload the page. Save card`,
  )
})

test('the page loads', () => expect(renderPart(<CardPage />).text()).toBe(noForm('Loading')))

test('a page that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { getBillingStatus: problemResponse('forbidden', 'Not for you.') }
  const { user, text } = renderPart(<CardPage />, { answers })
  expect(await screen.findByText('Not for you.')).toBeTruthy()
  expect(text()).not.toContain('Loading')
  answers.getBillingStatus = { ...billing, publishable_key: null }
  await user.click(button('Try again'))
  expect(await screen.findByText('This instance has no payment processor, so you cannot add a card.')).toBeTruthy()
})

test('the desktop app sends the user to a browser', () => {
  vi.stubGlobal('homeport', {})
  expect(renderCard().text()).toBe(noForm('The payment form works only in a browser. Open the dashboard in a browser and return to this page.'))
})

test.each([
  ['?plan=pro&interval=yearly', 'Pro', 'yearly'],
  ['?plan=starter&interval=daily', 'Basic', 'monthly'],
  ['', 'Basic', 'monthly'],
])('the address %s names the plan', (search, plan, interval) => {
  history.replaceState(null, '', `/app/account/card${search}`)
  expect(renderCard().text()).toBe(`${formText(plan, interval)} Loading Save card`)
  expect(button('Save card')).toHaveProperty('disabled', true)
})

test('a form that cannot be prepared says why', async () => {
  const { text } = renderCard({ createSetupIntent: problemResponse('billing_error', 'Try later.') })
  expect(await screen.findByText('Try later.')).toBeTruthy()
  expect(text()).not.toContain('Loading')
})

test('a form that does not load says so', async () => {
  stubStripe({ formEvent: 'loaderror' })
  renderCard({ createSetupIntent: setup })
  expect((await screen.findByRole('alert')).textContent).toBe(
    'The payment form did not load. Check that this machine can reach the payment processor, then reload the page.',
  )
})

test('a script that does not start says so', async () => {
  stubStripe()
  vi.stubGlobal('Stripe', undefined)
  renderCard({ createSetupIntent: setup })
  expect((await screen.findByRole('alert')).textContent).toBe('The payment processor’s script did not start. Reload the page.')
})

test.each<[string | undefined, boolean, string]>([
  ['dark', false, 'night'],
  ['light', true, 'stripe'],
  [undefined, true, 'night'],
  [undefined, false, 'stripe'],
])('the form follows the theme %s on a system that is dark (%s)', async (theme, isDark, expected) => {
  if (theme !== undefined) document.documentElement.dataset.theme = theme
  vi.stubGlobal('matchMedia', () => ({ matches: isDark }))
  const { stripe, elements } = stubStripe()
  renderCard({ createSetupIntent: setup })
  await waitFor(isEnabled)
  expect(stripe.mock.calls).toEqual([['pk_1']])
  expect(elements.mock.calls).toEqual([[{ clientSecret: 'seti_1', appearance: { theme: expected } }]])
})

test('a saved card starts the plan', async () => {
  const { confirmSetup } = stubStripe()
  const { user, sent, text } = renderCard({ createSetupIntent: setup, confirmBilling: { ok: true, plan: 'pro', interval: 'yearly' } })
  await waitFor(isEnabled)
  expect(text()).toBe(`${formText('Pro', 'yearly')} Save card`)
  const address = location.href
  await user.click(button('Save card'))
  expect(await screen.findByRole('status')).toBeTruthy()
  expect(text()).toBe(noForm('Card saved. You are on Pro, billed yearly. Done'))
  expect(confirmSetup.mock.calls.map(([{ confirmParams }]) => confirmParams)).toEqual([{ return_url: address }])
  expect(sent.slice(1)).toEqual([{ operation: 'confirmBilling', params: {}, body: { plan: 'pro', interval: 'yearly' } }])
})

test.each([
  ['with a message', { message: 'Too short.' }, 'Too short.'],
  ['without a message', {}, 'The card was declined. Try another card.'],
])('a card that is declined %s can be tried again', async (_, error, expected) => {
  stubStripe({ saves: [{ error }, {}] })
  const { user, sent } = renderCard({ createSetupIntent: setup })
  await waitFor(isEnabled)
  await user.click(button('Save card'))
  expect((await screen.findByRole('alert')).textContent).toBe(expected)
  expect(sent.map(({ operation }) => operation)).toEqual(['createSetupIntent'])
  await user.click(button('Save card'))
  await waitFor(() => expect(sent.map(({ operation }) => operation)).toEqual(['createSetupIntent', 'confirmBilling']))
  expect(screen.queryByRole('alert')).toBeNull()
})

test('after a saved card only the plan is tried again', async () => {
  const { confirmSetup } = stubStripe()
  const { user, sent } = renderCard({ createSetupIntent: setup, confirmBilling: problemResponse('billing_error', 'Try later.') })
  await waitFor(isEnabled)
  await user.click(button('Save card'))
  await user.click(await screen.findByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(sent.map(({ operation }) => operation)).toEqual(['createSetupIntent', 'confirmBilling', 'confirmBilling']))
  expect(confirmSetup.mock.calls).toHaveLength(1)
})

test('a user who returns from their bank needs no form', async () => {
  history.replaceState(null, '', '/app/account/card?plan=pro&interval=yearly&redirect_status=succeeded&setup_intent=seti_1')
  const { sent, text } = renderCard({ confirmBilling: problemResponse('billing_error', 'Try later.') })
  expect(text()).not.toContain('Loading')
  expect(location.search).toBe('?plan=pro&interval=yearly')
  expect(await screen.findByText('Try later.')).toBeTruthy()
  expect(sent).toEqual([{ operation: 'confirmBilling', params: {}, body: { plan: 'pro', interval: 'yearly' } }])
})
