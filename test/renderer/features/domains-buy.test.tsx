import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { BuyDomainDialog } from '../../../renderer/features/domains/buy-domain-dialog.tsx'
import { BuyDomainForm } from '../../../renderer/features/domains/buy-domain-form.tsx'
import { type DomainOffer, domain, domainOffer } from '../../../server/contract/domains.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createOffer = (own: Partial<DomainOffer> = {}) =>
  createExample(domainOffer, {
    hostname: 'boat.example',
    available: true,
    premium: false,
    price_cents: 900,
    renewal_price_cents: 1200,
    currency: 'USD',
    period_years: 1,
    free_with_credit: false,
    ...own,
  })
const renderSearch = async (answers = {}) => {
  const part = renderPart(<BuyDomainDialog slug="my-shop" onClose={() => {}} />, { answers })
  await part.user.type(screen.getByLabelText('Domain or word'), ' Boat ')
  await part.user.click(button('Search'))
  return part
}
const results = (own: Partial<DomainOffer> = {}, purchase_enabled = true) => ({ query: 'boat', purchase_enabled, results: [createOffer(own)] })
const renderForm = (own: Partial<DomainOffer> = {}, { credits = 0, slug = 'my-shop', answers = {}, session = {} }: FormOptions = {}) => {
  const calls: string[] = []
  const part = renderPart(
    <BuyDomainForm
      slug={slug}
      offer={createOffer(own)}
      onBack={() => calls.push('back')}
      onPriceChanged={() => calls.push('price changed')}
      onClose={() => calls.push('close')}
    />,
    {
      data: [
        [queryKeys.billing, { free_domain_credits: credits }],
        [queryKeys.session, session],
      ],
      answers,
    },
  )
  return { ...part, calls }
}
interface FormOptions {
  credits?: number
  slug?: string | null
  answers?: object
  session?: object | null
}
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })

test('a search that is running', async () => {
  const { text } = await renderSearch()
  expect(text()).toContain('Loading')
  expect(text()).not.toContain('No domains are for sale')
})

test('a search that fails can be tried again', async () => {
  const { text } = await renderSearch({ searchDomains: problemResponse('purchase_not_configured', 'Nothing is sold.') })
  await waitFor(() => expect(text()).toContain('Nothing is sold. purchase_not_configured'))
  expect(text()).not.toContain('Loading')
})

test('a search without results', async () => {
  const { text } = await renderSearch({ searchDomains: { ...results(), results: [] } })
  await waitFor(() => expect(text()).toContain('No domains are for sale for “boat”. Try another word.'))
})

test('nothing is searched without a word', async () => {
  const { user, text } = renderPart(<BuyDomainDialog slug="my-shop" onClose={() => {}} />)
  await user.click(button('Search'))
  expect(text()).not.toContain('Loading')
})

test.each<[string, Partial<DomainOffer>, boolean, string]>([
  ['for a year', {}, true, '$9.00 for a yearthen $12.00 a year [Choose boat.example] Choose'],
  ['for two years', { period_years: 2, premium: true }, true, '$9.00 for 2 yearsPremium, then $12.00 a year [Choose boat.example] Choose'],
  ['for nothing', { price_cents: 0, renewal_price_cents: 0 }, true, 'Free [Choose boat.example] Choose'],
  ['for nothing in the first year', { price_cents: 0 }, true, 'Freethen $12.00 a year [Choose boat.example] Choose'],
  ['with a free renewal', { renewal_price_cents: 0 }, true, '$9.00 for a yearthen $0.00 a year [Choose boat.example] Choose'],
  ['for a credit', { free_with_credit: true, renewal_price_cents: null }, true, 'Free with a credit [Choose boat.example] Choose'],
  ['at an unknown price', { price_cents: null, premium: true, renewal_price_cents: null }, true, 'Price unknownPremium [Choose boat.example] Choose'],
  ['that is taken', { available: false }, true, 'Taken'],
  ['that cannot be bought here', {}, false, '$9.00 for a yearthen $12.00 a year'],
])('an offer %s', async (_, own, canBuy, expected) => {
  const { text } = await renderSearch({ searchDomains: results(own, canBuy) })
  await waitFor(() => expect(text()).toContain('[Offers]'))
  expect(text().split('[Offers] boat.example')[1]?.split(' [Close]')[0]?.trim()).toBe(expected)
})

test('an offer is chosen, and the user can go back', async () => {
  const { user, text } = await renderSearch({ searchDomains: results() })
  await user.click(await screen.findByRole('button', { name: 'Choose boat.example' }))
  expect(text()).toContain('Buy boat.example It is registered for you and points to the project immediately.')
  await user.click(button('Back'))
  await user.clear(screen.getByLabelText('Domain or word'))
  await user.click(button('Search'))
  expect(text()).toContain('[Offers]')
})

test.each<[string, Partial<DomainOffer>, number, string]>([
  ['with a price', {}, 0, 'Total$9.00 Back Buy domain'],
  ['paid by a credit', {}, 1, 'TotalFree Back Get domain'],
  ['without a price', { price_cents: null }, 0, 'TotalBilled by the registrar Back Buy domain'],
])('the total of a domain %s', (_, own, credits, expected) => {
  const { text } = renderForm(own, { credits })
  expect(text()).toMatch(/^Registration period/)
  expect(text().slice(-expected.length)).toBe(expected)
})

test('the shortest period is that of the offer', () => {
  renderForm({ period_years: 9 })
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual(['9 years', '10 years'])
})

test.each([
  ['boat.test', 'Not needed for a domain that works only on this machine.'],
  ['boat.example', 'Otherwise the registrar uses the details of your registrar account.'],
])('%s and its registrant', (hostname, hint) => expect(renderForm({ hostname }).text()).toContain(`Add registrant details ${hint}`))

test('buys a domain for some years at the price that was shown', async () => {
  const { user, sent } = renderForm()
  expect(screen.getAllByRole('option').at(0)?.textContent).toBe('1 year')
  await user.selectOptions(screen.getByLabelText('Registration period'), '2 years')
  await user.click(screen.getByLabelText('Renew automatically'))
  await user.click(button('Buy domain'))
  const body = { hostname: 'boat.example', period_years: 2, auto_renew: false, expected_price_cents: 2100 }
  expect(sent).toEqual([{ operation: 'purchaseDomain', params: { slug: 'my-shop' }, body }])
})

test('buys a domain of an unknown price for a registrant', async () => {
  const { user, sent } = renderForm({ price_cents: null })
  const registrant = { name: 'Ada', email: 'a@b.de', phone: '+49 30 1', address: '1 Street', postal_code: '1', city: 'Bonn', country: 'DE' }
  const labels = ['Full name', 'Email', 'Phone', 'Street and number', 'Postal code', 'City', 'Country code (two letters)']
  await user.click(screen.getByLabelText('Add registrant details'))
  for (const [index, value] of Object.values({ ...registrant, country: 'deu' }).entries())
    await user.type(screen.getByLabelText(labels[index] ?? ''), value)
  await user.click(button('Buy domain'))
  expect(sent).toEqual([
    { operation: 'purchaseDomain', params: { slug: 'my-shop' }, body: { hostname: 'boat.example', period_years: 1, auto_renew: true, registrant } },
  ])
  await user.click(screen.getByLabelText('Add registrant details'))
  expect(screen.queryByLabelText('City')).toBeNull()
})

test('on the page of all projects, a project is chosen first', () => {
  renderForm({}, { slug: null })
  expect(screen.getByLabelText<HTMLSelectElement>('Project').value).toBe('')
  expect(button('Buy domain').disabled).toBe(true)
})

const invalid = (path: string) =>
  Response.json(
    { error: 'invalid_input', message: 'Check the fields.', issues: [{ path, message: 'That is wrong.' }], request_id: 'req_1' },
    { status: 400 },
  )
test.each<[string, Response, string, string[]]>([
  ['is too expensive now', problemResponse('price_changed', 'It costs more.'), 'It costs more. price_changed', ['price changed']],
  ['was sold meanwhile', problemResponse('domain_unavailable', 'It is taken.'), 'It is taken. domain_unavailable', ['price changed']],
  ['needs a card', problemResponse('payment_method_required', 'Save a card.'), 'Manage your plan and card in your account.', []],
  ['has a wrong period', invalid('period_years'), 'Registration period 1 That is wrong.', []],
  ['needs a registrant', invalid('registrant.city'), 'City That is wrong.', []],
])('a domain that %s', async (_, purchaseDomain, expected, reported) => {
  const { user, text, calls } = renderForm({}, { answers: { purchaseDomain } })
  await user.click(button('Buy domain'))
  await waitFor(() => expect(text()).toContain(expected))
  expect(calls).toEqual(reported)
  expect(text().includes('Check the fields.')).toBe(expected.startsWith('City'))
})

const ask = 'Ask the instance owner how to use it from your machine.'
test.each<[string, string, string | null, object, string]>([
  ['a public domain', 'boat.example', '2999-01-31T12:00:00.000Z', {}, 'boat.example is yours until Jan 31, 2999, and it points to My shop. Done'],
  [
    'a private domain',
    'boat.test',
    null,
    {},
    `boat.test is yours, and it points to My shop. This domain is not in public DNS; only this instance’s DNS server resolves it. ${ask} Done`,
  ],
  [
    'a private domain of the owner',
    'boat.test',
    null,
    { user: { is_instance_owner: true }, instance: { edge_url: 'http://127.0.0.1:4680' } },
    'boat.test is yours, and it points to My shop. This domain is not in public DNS; only this instance’s DNS server resolves it. Instance health shows the command that makes this machine use it. Open domain Done',
  ],
])('after the purchase of %s', async (_, hostname, expires_at, session, expected) => {
  const bought = { domain: createExample(domain, { hostname, expires_at, project_name: 'My shop' }) }
  const { user, text, calls } = renderForm({ hostname }, { answers: { purchaseDomain: bought }, session: 'user' in session ? session : null })
  await user.click(button('Buy domain'))
  await waitFor(() => expect(text()).toBe(expected))
  await user.click(button('Done'))
  expect(calls).toEqual(['close'])
})
