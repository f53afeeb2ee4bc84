import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { PlanAndCard } from '../../../renderer/features/account/plan-and-card.tsx'
import { subscriptionBadge } from '../../../renderer/features/account/subscription-badge.ts'
import { formatDate } from '../../../renderer/lib/format.ts'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { type BillingStatus, billingStatus } from '../../../server/contract/billing.ts'
import { instanceOperations, type Settings, settings, user } from '../../../server/contract/instance.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const sessionSchema = instanceOperations.getSession.success.json
const createSession = (is_local: boolean, is_instance_owner: boolean) =>
  createExample(sessionSchema, {
    user: createExample(user, { is_instance_owner }),
    instance: { ...createExample(sessionSchema).instance, is_local },
  })
const createBilling = (own: Partial<BillingStatus> = {}) =>
  createExample(billingStatus, {
    plan: 'basic',
    billing_interval: 'monthly',
    subscription_status: 'active',
    card: { last4: '4242', brand: 'visa' },
    trial_ends_at: null,
    free_domain_credits: 0,
    ...own,
  })
const renderPlan = (own: Partial<BillingStatus> = {}, answers: PartOptions['answers'] = {}, session = createSession(false, true)) =>
  renderPart(<PlanAndCard />, {
    data: [
      [queryKeys.session, session],
      [queryKeys.billing, createBilling(own)],
    ],
    answers,
  })
const renderSimulator = (own: Partial<Settings> = {}, answers: PartOptions['answers'] = {}) =>
  renderPart(<PlanAndCard />, {
    data: [
      [queryKeys.session, createSession(true, true)],
      [queryKeys.billing, createBilling({ processor_enabled: false })],
      [queryKeys.settings, createExample(settings, { plan: 'pro', trial_days: null, payment_method: false, email_verified: true, ...own })],
    ],
    answers,
  })
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
const button = (name: string) => screen.getByRole('button', { name })
const optionTexts = (label: string) =>
  within(screen.getByLabelText(label))
    .getAllByRole('option')
    .map(({ textContent }) => textContent)

const [basic, pro, starter] = [
  '10 projects, 512 MB each, up to 5 replicas, 2 concurrent builds, optionally always warm',
  '50 projects, 1024 MB each, up to 10 replicas, 4 concurrent builds, optionally always warm',
  '3 projects, 256 MB each, up to 2 replicas, 1 concurrent build, sleeps when idle',
]
const ended = '2026-01-31T12:00:00.000Z'
const isNew = { plan: 'starter', subscription_status: null, has_payment_method: false } as const

test.each<[string, Partial<BillingStatus>, string]>([
  [
    'a subscription',
    {},
    `Plan Basic, billed monthly${basic} Subscription Active Card Visa ending in 4242 Change plan… Replace card… Cancel subscription…`,
  ],
  ['no subscription', isNew, `Plan Starter${starter} Card None Choose plan…`],
  [
    'a trial of several days',
    { ...isNew, trial_ends_at: inDays(3.5) },
    `Plan Starter${pro} Trial Pro for 4 more daysEnds on ${formatDate(inDays(3.5))} Card None Choose plan…`,
  ],
  [
    'a trial that ends soon',
    { ...isNew, trial_ends_at: inDays(0.5) },
    `Plan Starter${pro} Trial Pro for one more dayEnds on ${formatDate(inDays(0.5))} Card None Choose plan…`,
  ],
  ['a trial that ended', { ...isNew, trial_ends_at: ended }, `Plan Starter${starter} Trial EndedEnded on Jan 31, 2026 Card None Choose plan…`],
  [
    'a trial beside a larger plan',
    { ...isNew, plan: 'basic', trial_ends_at: inDays(3.5) },
    `Plan Basic${basic} Trial Pro for 4 more daysEnds on ${formatDate(inDays(3.5))} Card None Change plan…`,
  ],
  [
    'a canceled subscription',
    { cancel_at: ended },
    `Plan Basic, billed monthly${basic} Subscription Ends after this periodMoves to Starter on Jan 31, 2026 Card Visa ending in 4242 Change plan… Replace card…`,
  ],
  ['a card without a plan', { ...isNew, has_payment_method: true }, `Plan Starter${starter} Card Visa ending in 4242 Choose plan…`],
  ['one free domain', { ...isNew, free_domain_credits: 1 }, `Plan Starter${starter} Card None Credits One domain free of charge Choose plan…`],
  ['free domains', { ...isNew, free_domain_credits: 2 }, `Plan Starter${starter} Card None Credits 2 domains free of charge Choose plan…`],
])('%s', (_, own, expected) => expect(renderPlan(own).text()).toBe(`Plan and card ${expected}`))

test.each<[string, string | null, string | null, string | null]>([
  ['an active one', 'active', null, 'Active'],
  ['a trial', 'trialing', null, 'Trial'],
  ['an active one that ends', 'active', ended, 'Ends after this period'],
  ['a trial that ends', 'trialing', ended, 'Ends after this period'],
  ['a late payment of one that ends', 'past_due', ended, 'Past due'],
  ['an unpaid one', 'unpaid', null, 'Unpaid'],
  ['an incomplete one', 'incomplete', null, 'Payment incomplete'],
  ['an expired one', 'incomplete_expired', null, 'Payment expired'],
  ['a paused one', 'paused', null, 'Paused'],
  ['a canceled one', 'canceled', ended, 'Canceled'],
  ['an unknown status', 'frozen', null, 'frozen'],
  ['none', null, null, null],
])('the badge of a subscription: %s', (_, subscription_status, cancel_at, label) => {
  expect(subscriptionBadge(createBilling({ subscription_status, cancel_at }))?.label ?? null).toBe(label)
})

test.each([
  ['a member of an instance elsewhere', false, false],
  ['the owner of an instance elsewhere', false, true],
  ['a member on this machine', true, false],
])('without a payment processor, %s reads who assigns the plan', (_, is_local, is_owner) => {
  const { text } = renderPlan({ ...isNew, processor_enabled: false }, {}, createSession(is_local, is_owner))
  expect(text()).toBe(
    `Plan and card No charges on this instance Plan Starter${starter} Card None This instance has no payment processor. Its owner assigns your plan.`,
  )
})

test('the plan loads', () => expect(renderPart(<PlanAndCard />).text()).toBe('Plan and card Loading'))

test('a plan that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { getBillingStatus: problemResponse('forbidden', 'Not for you.') }
  const { user, text } = renderPart(<PlanAndCard />, { answers })
  expect(await screen.findByText('Not for you.')).toBeTruthy()
  expect(text()).toMatch(/^Plan and card Not for you. forbidden/)
  answers.getBillingStatus = createBilling()
  await user.click(button('Try again'))
  expect(await screen.findByText('Visa ending in 4242')).toBeTruthy()
})

test('the card of a remote account is added on its own dashboard', () => {
  useConnection.setState({ current: { ...localConnection, id: 'rem_1', origin: 'https://deploy.example.com' } })
  expect(renderPlan().text()).toContain('Change plan… Add card on its own dashboard Cancel subscription…')
  expect(screen.getByRole('link').getAttribute('href')).toBe('https://deploy.example.com/app/account?at=plan')
})

test('the card is replaced on its own page', () => {
  renderPlan({ plan: 'pro', billing_interval: 'yearly' })
  expect(screen.getByRole('link', { name: 'Replace card…' }).getAttribute('href')).toMatch(/account\/card\?plan=pro&interval=yearly$/)
})

test('the owner simulates a plan on this machine', async () => {
  const { user, sent, text } = renderSimulator()
  expect(text()).not.toContain('Its owner assigns your plan')
  expect(optionTexts('Plan')).toEqual(['Starter', 'Basic', 'Pro', 'Enterprise'])
  expect(optionTexts('Pro trial')).toEqual(['None', '14 days left', '3 days left', 'Last day', 'Ended'])
  await user.selectOptions(screen.getByLabelText('Plan'), 'Starter')
  await user.selectOptions(screen.getByLabelText('Pro trial'), 'Ended')
  await user.click(screen.getByRole('switch', { name: 'Has a card' }))
  await user.click(screen.getByRole('switch', { name: 'Email is verified' }))
  const bodies = [{ plan: 'starter' }, { trial_days: 0 }, { payment_method: true }, { email_verified: false }]
  expect(sent).toEqual(bodies.map((body) => ({ operation: 'updateSettings', params: {}, body })))
})

test.each<[string, number | null, string, string[]]>([
  ['none', null, '', []],
  ['of a listed length', 3, '3', []],
  ['of another length', 5, '5', ['5 days left']],
])('a simulated trial: %s', (_, trial_days, value, others) => {
  renderSimulator({ trial_days })
  expect(screen.getByLabelText('Pro trial')).toHaveProperty('value', value)
  expect(optionTexts('Pro trial').slice(5)).toEqual(others)
})

test('a simulated trial is removed', async () => {
  const { user, sent, text } = renderSimulator({ trial_days: 3 }, { updateSettings: problemResponse('forbidden', 'Not now.') })
  await user.selectOptions(screen.getByLabelText('Pro trial'), 'None')
  expect(sent).toEqual([{ operation: 'updateSettings', params: {}, body: { trial_days: null } }])
  expect(await screen.findByText('Not now.')).toBeTruthy()
  expect(text()).toMatch(/Email is verified .*Not now. forbidden/)
})
