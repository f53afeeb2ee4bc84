import { act, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import AllDomainsPage from '../../../renderer/features/domains/all-domains-page.tsx'
import { DomainRows } from '../../../renderer/features/domains/domain-rows.tsx'
import { DomainsView } from '../../../renderer/features/domains/domains-view.tsx'
import ProjectDomainsPage from '../../../renderer/features/domains/page.tsx'
import { localConnection } from '../../../renderer/stores/connection.ts'
import { type Domain, domain } from '../../../server/contract/domains.ts'
import { publicCertificate } from '../../../server/contract/network.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const past = '2026-01-31T12:00:00.000Z'
const future = '2999-01-31T12:00:00.000Z'
const createDomain = (own: Partial<Domain> = {}) =>
  createExample(domain, {
    id: 'dom_1',
    hostname: 'shop.example.com',
    status: 'pending',
    verified_at: null,
    last_check_at: null,
    last_check_error: null,
    account_owned_domain_id: null,
    expires_at: null,
    auto_renew: null,
    transfer_requested_at: null,
    project_slug: 'my-shop',
    project_name: 'My shop',
    certificate: null,
    ...own,
  })
const issued = createExample(publicCertificate, { status: 'issued', last_error: null })
const failed = createExample(publicCertificate, { status: 'failed', last_error: 'Port `80` is closed.' })
const bought = { account_owned_domain_id: 'own_1', status: 'verified', expires_at: future, auto_renew: true } as const
const session = { instance: { edge_url: 'http://127.0.0.1:4680', edge_https_url: 'https://127.0.0.1:4643' } }
const renderRow = (own: Partial<Domain>, instance: object = session, showsProject = false) =>
  renderPart(<DomainRows domains={[createDomain(own)]} showsProject={showsProject} onAction={() => {}} />, { data: [[queryKeys.session, instance]] })
const renderView = (
  domains: Domain[],
  { canBuy = false, slug = 'my-shop', answers = {} }: { canBuy?: boolean; slug?: string | null; answers?: object } = {},
) =>
  renderPart(<DomainsView slug={slug} />, {
    data: [
      [queryKeys.domains(slug), { domains, platform_ip: '203.0.113.10', purchase_enabled: canBuy }],
      [queryKeys.session, session],
    ],
    answers,
  })

test.each<[string, Partial<Domain>, string]>([
  ['is new', {}, 'Waiting for DNS Set up…'],
  ['was checked', { last_check_at: past, certificate: failed }, 'Waiting for DNS Check…'],
  ['is pending with a certificate', { certificate: issued }, 'Waiting for DNS Set up…'],
  ['points elsewhere', { status: 'failed', last_check_at: past, last_check_error: 'It names `x`.' }, 'It names x. Not pointing here Check…'],
  ['fails without a reason', { status: 'failed', last_check_at: past }, 'Not pointing here Check…'],
  ['is verified', { status: 'verified', last_check_error: 'Timeout.' }, 'Verified Open'],
  ['has HTTPS', { status: 'verified', certificate: issued }, 'VerifiedHTTPS Open'],
  ['has no certificate', { status: 'verified', certificate: failed }, 'Port 80 is closed. Verified Open'],
  ['is renewed', bought, 'VerifiedRenews Jan 31, 2999 Open'],
  ['is not renewed', { ...bought, auto_renew: false }, 'VerifiedEnds Jan 31, 2999 Open'],
  ['has expired', { ...bought, expires_at: past }, 'ExpiredOn Jan 31, 2026'],
  ['is bought and points elsewhere', { ...bought, status: 'failed' }, 'Not pointing hereRenews Jan 31, 2999 Set up…'],
  ['is transferred', { ...bought, status: 'transfer_requested' }, 'Transferring outPaid until Jan 31, 2999'],
])('a domain that %s', (_, own, expected) => {
  expect(renderRow(own).text()).toBe(`[Domains] shop.example.com ${expected} [Actions for shop.example.com]`)
})

test.each<[string, Partial<Domain>, object, string | null]>([
  ['without a certificate uses HTTP', {}, session, 'http://shop.example.com:4680/'],
  ['with a certificate uses HTTPS', { certificate: issued }, session, 'https://shop.example.com:4643/'],
  [
    'uses HTTP where HTTPS has no port',
    { certificate: issued },
    { instance: { ...session.instance, edge_https_url: null } },
    'http://shop.example.com:4680/',
  ],
  ['is not shown before the instance is known', {}, {}, null],
])('the link to a domain %s', (_, own, instance, href) => {
  renderRow({ status: 'verified', ...own }, instance)
  expect(screen.queryByRole<HTMLAnchorElement>('link', { name: 'Open' })?.href ?? null).toBe(href)
})

test('a list of all projects names the project of each domain', () => {
  renderRow({}, session, true)
  expect(screen.getByRole('link', { name: 'My shop' }).getAttribute('href')).toBe('/projects/my-shop/domains')
})

test.each<[string, Partial<Domain>, string[]]>([
  ['a pending domain', {}, ['Details…', 'Remove domain…']],
  ['a failed domain', { status: 'failed' }, ['Details…', 'Remove domain…']],
  ['a verified domain', { status: 'verified' }, ['Check DNS record…', 'Details…', 'Remove domain…']],
  ['a bought domain', bought, ['Registration…', 'Transfer to another registrar…', 'Remove domain…']],
  ['one in transfer', { ...bought, status: 'transfer_requested' }, ['Registration…', 'Show transfer code…', 'Cancel transfer…', 'Remove domain…']],
])('the actions of %s', async (_, own, expected) => {
  const { user } = renderRow(own)
  await user.click(screen.getByRole('button', { name: 'Actions for shop.example.com' }))
  expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual(expected)
})

test.each<[string, Domain[], boolean, string]>([
  [
    'no domains',
    [],
    false,
    '[Domains] No domains yet A project has its own URL on this instance. Add a domain that you own to serve the project there, too. Add domain',
  ],
  [
    'no domains where one can be bought',
    [],
    true,
    '[Domains] No domains yet A project has its own URL on this instance. Add a domain that you own to serve the project there, too, or buy one here. Buy domain… Add domain',
  ],
  ['one domain', [createDomain()], false, '1 domain. Point each domain to 203.0.113.10. Add domain [Domains]'],
  [
    'two domains',
    [createDomain(), createDomain({ id: 'dom_2', hostname: 'b.example.com' })],
    true,
    '2 domains. Point each domain to 203.0.113.10. Buy domain… Add domain [Domains]',
  ],
])('a page with %s', (_, domains, canBuy, expected) => {
  const { text } = renderView(domains, { canBuy })
  expect(text().slice(0, expected.length)).toBe(expected)
  expect(text()).not.toContain('My shop')
})

test('the list of all projects has a title and shows the projects', () => {
  const list = { domains: [createDomain()], platform_ip: '203.0.113.10', purchase_enabled: false }
  const { text } = renderPart(<AllDomainsPage />, { data: [[queryKeys.domains(null), list]] })
  expect(text()).toContain('Domains 1 domain.')
  expect(text()).toContain('shop.example.com My shop')
  expect(document.title).toBe('Domains · Homeport')
})

test('the domains of a project have its name as the title', () => {
  renderPart(<ProjectDomainsPage slug="my-shop" />, { data: [[queryKeys.project('my-shop'), { name: 'My shop' }]] })
  expect(document.title).toBe('Domains · My shop · Homeport')
})

test('loads, and a failure can be tried again', async () => {
  const answers: { listProjectDomains: Response } = { listProjectDomains: problemResponse('project_not_found', 'It is gone.') }
  const { user, text } = renderPart(<ProjectDomainsPage slug="my-shop" />, { answers })
  expect([text(), document.title]).toEqual(['Loading', 'Domains · my-shop · Homeport'])
  await waitFor(() => expect(text()).toMatch(/^It is gone\. project_not_found .* Try again$/))
  answers.listProjectDomains = Response.json({ domains: [], platform_ip: '203.0.113.10', purchase_enabled: false })
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(text()).toContain('No domains yet'))
})

test('keeps the list while the next request fails', async () => {
  const { text } = renderView([createDomain()], { answers: { listProjectDomains: problemResponse('project_not_found', 'It is gone.') } })
  await act(() => localConnection.cache.refetchQueries({ queryKey: queryKeys.domains('my-shop') }))
  await waitFor(() => expect(text()).toContain('It is gone. project_not_found'))
  expect(text()).toContain('Waiting for DNS')
})

test.each([
  ['Add domain', '?do=add', 'Add domain A domain you already own, at any registrar.'],
  ['Buy domain…', '?do=buy', 'Buy a domain Enter a domain or a word.'],
])('“%s” opens its dialog with an address of its own', async (button, search, expected) => {
  const { user, text } = renderView([createDomain()], { canBuy: true })
  await user.click(screen.getByRole('button', { name: button }))
  expect(location.search).toBe(search)
  expect(text()).toContain(expected)
  await user.click(screen.getByRole('button', { name: 'Close' }))
  expect(location.search).toBe('')
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('nothing can be bought by a link where no domains are for sale', () => {
  history.replaceState(null, '', '/app/?do=buy')
  renderView([createDomain()])
  expect(screen.queryByRole('dialog')).toBeNull()
})

test.each<[string, Partial<Domain>, string]>([
  [
    'Check DNS record…',
    { status: 'verified' },
    'shop.example.com Points to My shop once its DNS record is correct. shop.example.com points here and serves the project.',
  ],
  ['Details…', {}, 'shop.example.com Points to My shop. Loading'],
  ['Transfer to another registrar…', bought, 'Transfer shop.example.com to another registrar?'],
  ['Cancel transfer…', { ...bought, status: 'transfer_requested' }, 'Cancel the transfer of shop.example.com?'],
  ['Remove domain…', {}, 'Remove shop.example.com?'],
])('the action “%s” opens its dialog', async (action, own, expected) => {
  const { user, text } = renderView([createDomain(own)])
  await user.click(screen.getByRole('button', { name: 'Actions for shop.example.com' }))
  await user.click(screen.getByRole('menuitem', { name: action }))
  expect(text()).toContain(expected)
  await user.click(screen.getAllByRole('button', { name: 'Close' }).at(-1) ?? document.body)
  expect(screen.queryByRole('dialog')).toBeNull()
})
